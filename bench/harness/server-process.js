// Server processes: those in JavaScript obey over IPC, those in C++ print their port.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const patienceMs = 15_000;
const running = new Set();

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The arguments of the first `event`; rejects when it is late, or `child` ends before. */
async function soon(emitter, event, child, what) {
  const done = new AbortController();
  const { signal } = done;
  const timer = setTimeout(() => done.abort(new Error('no answer in time')), patienceMs);
  const ended = once(child, 'exit', { signal }).then(([code, killer]) => {
    throw new Error(`the server ended (${killer ?? `exit code ${code}`})`);
  });
  try {
    return await Promise.race([once(emitter, event, { signal }), ended]);
  } catch (error) {
    throw new Error(`${what}: ${(signal.reason ?? error).message}`, { cause: error });
  } finally {
    clearTimeout(timer);
    ended.catch(() => {});
    done.abort();
  }
}

class ServerProcess {
  #child;
  #obeys;

  constructor(child, { name, port, versions = null, obeys }) {
    this.#child = child;
    this.#obeys = obeys;
    this.name = name;
    this.port = port;
    this.pid = child.pid;
    this.versions = versions;
  }

  async #ask(type) {
    this.#child.send({ type });
    const [message] = await soon(this.#child, 'message', this.#child, `${this.name}: ${type}`);
    return message;
  }

  /** Begins the window that snapshot() reports on. Programs in C++ cannot be asked. */
  async reset() {
    if (this.#obeys) await this.#ask('reset');
  }

  /** @returns {Promise<{memory: object, loopUtilization: number} | null>} */
  async snapshot() {
    return this.#obeys ? this.#ask('snapshot') : null;
  }

  /** Leaves no garbage behind, so that the memory that is left is in use. */
  async collect() {
    if (this.#obeys) await this.#ask('collect');
  }

  async stop() {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    if (this.#obeys) child.send({ type: 'stop' });
    else child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 2000);
    await ended;
    clearTimeout(timer);
  }
}

function launch(command, { cpu, descriptors, stdio }) {
  const limit = descriptors ? ['prlimit', `--nofile=${descriptors}:${descriptors}`] : [];
  const [file, ...args] = [...limit, 'taskset', '-c', String(cpu), ...command];
  const env = { ...process.env, NODE_ENV: 'production' };
  const child = spawn(file, args, { stdio, env });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/**
 * Starts a server of bench/servers, pinned to a CPU.
 *
 * @param {{name: string, node: string, script: string, flags?: string[], args?: string[],
 *   cpu: number, descriptors?: number}} options
 */
export async function startNodeServer({ name, node, script, flags = [], args = [], ...placement }) {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'];
  const child = launch([node, ...flags, script, ...args], { ...placement, stdio });
  const [{ port, versions }] = await soon(child, 'message', child, name);
  return new ServerProcess(child, { name, port, versions, obeys: true });
}

/** Starts a program that prints "listening on PORT", pinned to a CPU. */
export async function startProgram({ name, path, args = [], cpu, descriptors }) {
  const stdio = ['ignore', 'pipe', 'inherit'];
  const child = launch([path, ...args, '--port', '0'], { cpu, descriptors, stdio });
  const [line] = await soon(createInterface(child.stdout), 'line', child, name);
  const port = Number(/^listening on (\d+)$/.exec(line)?.[1]);
  if (!port) throw new Error(`${name} said: ${line}`);
  return new ServerProcess(child, { name, port, obeys: false });
}
