// What the tests of the JavaScript API share: a server on a port of the kernel's choice, a client
// that speaks raw bytes, and programs in processes of their own.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import * as millrace from 'millrace';

/** Far above what a slow machine needs: only a hang is to run into it. */
export const DEADLINE_MS = Number(process.env.MILLRACE_TEST_DEADLINE_MS ?? 60_000);

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {string | (() => string)} what
 * @returns {Promise<T>}
 */
export async function inTime(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`too late: ${typeof what === 'string' ? what : what()}`));
    }, DEADLINE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A promise with its switches. */
export function deferred() {
  let resolve, reject;
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise: inTime(promise, 'an event of the server'), resolve, reject };
}

/** Waits until `condition` holds; looks once in a turn of the loop. */
export async function eventually(condition, what) {
  const end = Date.now() + DEADLINE_MS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`too late: ${what}`);
    await sleep(1);
  }
}

/** Several whole turns of the loop, in which everything that is under way arrives. */
export async function turns(count = 5) {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Makes an app, listens, and closes it when the test is over.
 *
 * @param {import('node:test').TestContext} t
 * @param {(app: any) => void} configure
 * @param {object} [options] of App()
 */
export function serve(t, configure, options) {
  const app = millrace.App(options);
  t.after(() => app.close());
  configure(app);
  let token;
  app.listen('127.0.0.1', 0, (result) => (token = result));
  assert.ok(token, 'the app listens');
  const port = millrace.us_socket_local_port(token);
  return { app, token, port, connect: (settings) => Client.connect(t, port, settings) };
}

/** GET of a path, as bytes. */
export function get(path, fields = '') {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
}

/** POST of a body with its length, as text of Latin-1. */
export function post(path, body, fields = '') {
  const length = Buffer.byteLength(body, 'latin1');
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${fields}\r\n${body}`;
}

/** The wire with the value of Date replaced, so that it can be compared. */
export function undated(text) {
  return text.replace(/\r\nDate: [A-Z][a-z]{2}, [0-9: A-Za-z]{21}GMT\r\n/g, '\r\nDate: now\r\n');
}

const HEAD_BYTES_MAX = 1_000_000;

/** A connection that sends exact bytes and sees exact bytes. */
export class Client {
  #pieces = [];
  #length = 0;
  #start = 0;
  #wake = () => {};
  error = undefined;
  /** The peer has ended, or the connection is gone. */
  isEnded = false;

  /** @param {net.Socket} socket */
  constructor(socket) {
    this.socket = socket;
    socket.on('data', (piece) => {
      this.#pieces.push(piece);
      this.#length += piece.length;
      this.#wake();
    });
    socket.on('end', () => {
      this.isEnded = true;
      this.#wake();
    });
    socket.on('error', (error) => (this.error = error));
    socket.on('close', () => {
      this.isEnded = true;
      this.#wake();
    });
  }

  static async connect(t, port, { host = '127.0.0.1', isPaused = false } = {}) {
    const socket = net.connect({ port, host, allowHalfOpen: true, noDelay: true });
    t.after(() => socket.destroy());
    const client = new Client(socket);
    await inTime(once(socket, 'connect'), 'a connection');
    if (isPaused) socket.pause();
    return client;
  }

  /** @param {string | Uint8Array} bytes text is Latin-1 */
  send(bytes) {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** Everything that has come and was not taken yet. */
  get received() {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces.length === 0 ? Buffer.alloc(0) : this.#pieces[0].subarray(this.#start);
  }

  get text() {
    return this.received.toString('latin1');
  }

  get receivedBytes() {
    return this.#length - this.#start;
  }

  take(count) {
    const taken = this.#front(count);
    this.#start += count;
    if (this.#start === this.#pieces[0]?.length) {
      this.#pieces.shift();
      this.#length -= this.#start;
      this.#start = 0;
    }
    return taken;
  }

  /** The next bytes, at most `count`; joins no more pieces than it must. */
  #front(count) {
    let used = 0;
    let bytes = -this.#start;
    while (used < this.#pieces.length && bytes < count) bytes += this.#pieces[used++].length;
    if (used > 1) {
      const joined = Buffer.concat(this.#pieces.splice(0, used)).subarray(this.#start);
      this.#pieces.unshift(joined);
      this.#length -= this.#start;
      this.#start = 0;
    }
    return (this.#pieces[0] ?? Buffer.alloc(0)).subarray(this.#start, this.#start + count);
  }

  async until(condition, what) {
    const seen = () => `${what}; received ${JSON.stringify(this.text.slice(0, 2000))}`;
    while (!condition()) {
      if (this.isEnded) throw new Error(`the connection ended before ${seen()}`);
      const moved = new Promise((resolve) => (this.#wake = resolve));
      if (!condition()) await inTime(moved, seen);
    }
    return this;
  }

  /** Takes the given number of bytes. */
  async bytes(count) {
    await this.until(() => this.receivedBytes >= count, `${count} bytes`);
    return this.take(count);
  }

  /** Takes everything up to the end of the connection. */
  async rest() {
    await this.until(() => this.isEnded, 'the end');
    return this.take(this.receivedBytes).toString('latin1');
  }

  /**
   * Takes one whole response off the wire; throws if it is not well-formed.
   *
   * @param {{isHead?: boolean}} [settings]
   */
  async response({ isHead = false } = {}) {
    const headBytes = () => this.#front(HEAD_BYTES_MAX).indexOf('\r\n\r\n') + 4;
    await this.until(() => headBytes() >= 4, 'the head of a response');
    const head = this.take(headBytes()).toString('latin1');
    const answer = parseHead(head);
    if (isHead || answer.status < 200 || answer.status === 204 || answer.status === 304) {
      return answer;
    }
    if (answer.fields['transfer-encoding'] === 'chunked') {
      answer.body = await this.#chunkedBody();
    } else if (answer.fields['content-length'] !== undefined) {
      answer.body = await this.bytes(Number(answer.fields['content-length']));
    } else {
      await this.until(() => this.isEnded, 'the end of a response without a length');
      answer.body = this.take(this.receivedBytes);
    }
    answer.text = answer.body.toString('latin1');
    return answer;
  }

  async #sizeLine() {
    const line = () => this.#front(20).toString('latin1');
    await this.until(() => line().includes('\r\n') || line().length === 20, 'a chunk size');
    const found = /^([0-9A-Fa-f]{1,16})\r\n/.exec(line());
    assert.ok(found, `a chunk size, not ${JSON.stringify(line())}`);
    this.take(found[0].length);
    return Number.parseInt(found[1], 16);
  }

  async #chunkedBody() {
    const chunks = [];
    for (;;) {
      const size = await this.#sizeLine();
      if (size > 0) chunks.push(await this.bytes(size));
      assert.equal((await this.bytes(2)).toString(), '\r\n', 'the end of a chunk');
      if (size === 0) return Buffer.concat(chunks);
    }
  }

  /** Ends the sending side. */
  end() {
    this.socket.end();
    return this;
  }

  /** Ends with a reset. */
  reset() {
    this.socket.resetAndDestroy();
  }

  async closed() {
    await this.until(() => this.isEnded, 'the end');
    this.socket.destroy();
  }
}

/** @param {string} head with the empty line */
function parseHead(head) {
  const [line, ...lines] = head.slice(0, -4).split('\r\n');
  const found = /^HTTP\/1\.1 ([1-9][0-9]{2}) ([\t\x20-\x7e\x80-\xff]*)$/.exec(line);
  assert.ok(found, `a status line, not ${JSON.stringify(line)}`);
  const answer = { head, status: Number(found[1]), reason: found[2], fields: {}, lines };
  for (const field of lines) {
    const parts = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ([\t\x20-\x7e\x80-\xff]*)$/.exec(field);
    assert.ok(parts, `a field line, not ${JSON.stringify(field)}`);
    const name = parts[1].toLowerCase();
    const isFraming = ['content-length', 'transfer-encoding', 'date'].includes(name);
    assert.ok(!isFraming || !(name in answer.fields), `only one ${name}`);
    answer.fields[name] = name in answer.fields ? `${answer.fields[name]}, ${parts[2]}` : parts[2];
  }
  return answer;
}

/** One request on a connection of its own; the response. */
export async function ask(server, bytes, settings) {
  const client = await server.connect();
  client.send(bytes);
  const answer = await client.response(settings);
  client.socket.destroy();
  return answer;
}

/**
 * Runs `body` with a listener for uncaught exceptions; gives what was caught.
 *
 * @param {(caught: unknown[]) => Promise<void>} body
 */
export async function catchingUncaught(body) {
  const caught = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => caught.push(error));
  try {
    await body(caught);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of others) process.on('uncaughtException', listener);
  }
  return caught;
}

const prelude = `
import * as millrace from ${JSON.stringify(import.meta.resolve('millrace'))};
import { writeSync } from 'node:fs';
const { App, us_listen_socket_close, us_socket_local_port } = millrace;
const tell = (text) => writeSync(1, text + '\\n');
const tellPort = (token) => tell('port ' + us_socket_local_port(token));
`;

/** A program in a process of its own, which is killed when the test is over. */
export class Program {
  stdout = '';
  stderr = '';

  /**
   * @param {import('node:test').TestContext} t
   * @param {string} source of a module; has App, us_*, tell(line) and tellPort(token)
   * @param {string[]} [nodeOptions]
   * @param {NodeJS.ProcessEnv} [env]
   */
  constructor(t, source, nodeOptions = [], env = process.env) {
    const options = [...nodeOptions, '--input-type=module', '--eval', prelude + source];
    this.child = spawn(process.execPath, options, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    t.after(() => this.child.kill('SIGKILL'));
    this.child.stdout.setEncoding('utf8').on('data', (text) => (this.stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', (text) => (this.stderr += text));
    this.ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal }));
  }

  /** The groups of the first match in what the program has told. */
  async told(expected) {
    let isOver = false;
    this.ended.then(() => (isOver = true));
    await eventually(() => expected.test(this.stdout) || isOver, `${expected}: ${this.stderr}`);
    const found = expected.exec(this.stdout);
    assert.ok(found, `the program tells ${expected}; it told ${this.stdout} ${this.stderr}`);
    return found;
  }

  /** The address of the server in the program. */
  async server(t) {
    const port = Number((await this.told(/^port (\d+)$/m))[1]);
    return { port, connect: (settings) => Client.connect(t, port, settings) };
  }

  /** Waits for the end: exit code and signal. */
  async end() {
    const what = () => `the end of the program: ${this.stdout} ${this.stderr}`;
    return inTime(this.ended, what);
  }

  /** Waits for an end without fault. */
  async endsWell() {
    const end = await this.end();
    assert.deepEqual(end, { code: 0, signal: null }, this.stderr);
  }
}

/** Bytes that tell where they stand: no two stretches of 8 are alike. */
export function pattern(bytes) {
  const buffer = Buffer.alloc(bytes);
  const words = new Uint32Array(buffer.buffer, buffer.byteOffset, bytes >> 2);
  for (let index = 0; index < words.length; index++) words[index] = Math.imul(index, 2654435761);
  return buffer;
}

/** A generator of numbers from 0 to below `limit` that gives the same row for the same seed. */
export function random(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 0x1_0000_0000) * limit);
  };
}

/** Collects garbage; only in programs that were started with --expose-gc. */
export async function collectGarbage() {
  for (let round = 0; round < 3; round++) {
    globalThis.gc();
    await turns(2);
  }
}
