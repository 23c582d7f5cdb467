// Worker threads: each has a loop and apps of its own, and may end at any time. Every test runs in
// a program of its own, since what could go wrong would take the whole process along.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, Program, get } from '../helpers.js';

const moduleUrl = JSON.stringify(import.meta.resolve('millrace'));

/** A program that runs `source` in a worker; `source` has App, tellPort() and tell(). */
function workerProgram(t, source, main = '') {
  const worker = `
    const { parentPort, workerData, threadId } = require('node:worker_threads');
    const { writeSync } = require('node:fs');
    const tell = (text) => writeSync(1, text + '\\n');
    import(${moduleUrl}).then((millrace) => {
      const { App, us_listen_socket_close, us_socket_local_port } = millrace;
      const tellPort = (token) => tell('port ' + us_socket_local_port(token));
      ${source}
    });`;
  return new Program(
    t,
    `import { Worker } from 'node:worker_threads';
    const source = ${JSON.stringify(worker)};
    const startWorker = (workerData) => new Worker(source, {
      eval: true,
      execArgv: [],
      workerData,
    });
    const doze = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    process.stdin.on('data', (text) => globalThis.onInput?.(String(text).trim()));
    process.stdin.unref();
    ${main || 'const worker = startWorker();'}`,
  );
}

const terminating = `
  const worker = startWorker();
  globalThis.onInput = async () => {
    const code = await worker.terminate();
    tell('terminated ' + code);
    // The thread that is left works on.
    App().get('/', (res) => res.end('main')).listen('127.0.0.1', 0, (token) => {
      tell('second ' + us_socket_local_port(token));
      setTimeout(() => us_listen_socket_close(token), 0);
    });
    globalThis.onInput = undefined;
  };`;

/** What a worker is doing when it is terminated: its source, and what a client does before. */
const states = {
  'has made nothing': { source: "setInterval(() => {}, 1000); tell('port 0');" },
  'has an app that does not listen': {
    source: "App().get('/', () => {}); setInterval(() => {}, 1000); tell('port 0');",
  },
  'is idle': { source: "App().listen('127.0.0.1', 0, tellPort);" },
  'has an idle connection': {
    source: "App().get('/', (res) => res.end('ok')).listen('127.0.0.1', 0, tellPort);",
    async act(client) {
      client.send(get('/'));
      await client.response();
    },
  },
  'is busy inside a handler': {
    source: `App().get('/', (res) => { tell('busy'); while (true); })
      .listen('127.0.0.1', 0, tellPort);`,
    async act(client, program) {
      client.send(get('/') + get('/'));
      await program.told(/busy/);
    },
  },
  'is busy inside onData': {
    source: `App().post('/', (res) => res.onData(() => { tell('busy'); while (true); }))
      .listen('127.0.0.1', 0, tellPort);`,
    async act(client, program) {
      client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhello');
      await program.told(/busy/);
    },
  },
  'is busy inside onAborted': {
    source: `App().get('/', (res) => {
      res.onAborted(() => { tell('busy'); while (true); });
      tell('waiting');
    }).listen('127.0.0.1', 0, tellPort);`,
    async act(client, program) {
      client.send(get('/'));
      await program.told(/waiting/);
      client.reset();
      await program.told(/busy/);
    },
  },
  'is busy inside a microtask of a handler': {
    source: `App().get('/', async (res) => { await null; tell('busy'); while (true); })
      .listen('127.0.0.1', 0, tellPort);`,
    async act(client, program) {
      client.send(get('/'));
      await program.told(/busy/);
    },
  },
  'has unanswered requests': {
    source: `App().get('/', (res) => { res.onAborted(() => tell('aborted')); tell('waiting'); })
      .listen('127.0.0.1', 0, tellPort);`,
    async act(client, program) {
      client.send(get('/').repeat(40));
      await program.told(/(waiting\n){32}/);
    },
  },
  'has timers that would answer': {
    source: `App().get('/', (res) => {
      res.onAborted(() => {});
      setInterval(() => res.write('tick'), 1);
      tell('waiting');
    }).listen('127.0.0.1', 0, tellPort);`,
    async act(client) {
      client.send(get('/'));
      await client.until(() => client.text.includes('tick'), 'a tick');
    },
  },
  'has a peer that does not read': {
    isPaused: true,
    source: `App().get('/', (res) => {
      res.onAborted(() => {});
      res.onWritable(() => { while (res.write('x'.repeat(1_000_000))); return false; });
      while (res.write('x'.repeat(1_000_000)));
      tell('full');
    }).listen('127.0.0.1', 0, tellPort);`,
    async act(client, program) {
      client.send(get('/'));
      await program.told(/full/);
    },
  },
  'holds a body that nobody reads': {
    source: `App().post('/', (res) => { res.onAborted(() => {}); tell('waiting'); })
      .listen('127.0.0.1', 0, tellPort);`,
    async act(client, program) {
      client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
      client.send('x'.repeat(500_000));
      await program.told(/waiting/);
    },
  },
  'is answering as fast as it can': {
    source: "App().get('/', (res) => res.end('ok')).listen('127.0.0.1', 0, tellPort);",
    async act(client) {
      client.send(get('/').repeat(20_000));
      await client.response();
    },
  },
};

for (const [name, { source, act, isPaused }] of Object.entries(states)) {
  test(`a worker may be terminated while it ${name}`, async (t) => {
    const program = workerProgram(t, source, terminating);
    const port = Number((await program.told(/^port (\d+)$/m))[1]);
    const client = port === 0 ? undefined : await Client.connect(t, port, { isPaused });
    if (act !== undefined) await act(client, program);
    program.child.stdin.write('terminate\n');
    await program.told(/^terminated 1$/m);
    await program.told(/^second \d+$/m);
    await program.endsWell();
    client?.socket.resume();
    await client?.closed();
  });
}

const endings = {
  'by process.exit() in a handler': ['process.exit(5);', 5],
  'by process.exit() in a timer': ['setTimeout(() => process.exit(6), 1);', 6],
  'by process.exit() in a microtask': ['queueMicrotask(() => process.exit(7));', 7],
  'by an exception in a handler': ["throw new Error('on purpose');", 1],
  'because its app was closed': ['app.close();', 0],
};

for (const [name, [ending, code]] of Object.entries(endings)) {
  test(`a worker may end ${name}`, async (t) => {
    const program = workerProgram(
      t,
      `const app = App().get('/', (res) => {
        res.onAborted(() => {});
        ${ending}
      }).listen('127.0.0.1', 0, tellPort);`,
      `const worker = startWorker();
      worker.on('error', (error) => tell('error ' + error.message));
      worker.on('exit', (code) => tell('exit ' + code));`,
    );
    const server = await program.server(t);
    const client = await server.connect();
    client.send(get('/') + get('/'));
    const told = await program.told(/^exit (\d+)$/m);
    assert.equal(Number(told[1]), code);
    assert.equal(/^error on purpose$/m.test(program.stdout), code === 1);
    await program.endsWell();
    await client.closed();
  });
}

test('what a worker answered before its exit reaches the peer', async (t) => {
  const program = workerProgram(
    t,
    `App().get('/', (res) => {
      res.end('farewell');
      process.exit(0);
    }).listen('127.0.0.1', 0, tellPort);`,
  );
  const server = await program.server(t);
  const client = await server.connect();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'farewell');
  await program.endsWell();
});

test('workers and the main thread serve one shared port', async (t) => {
  const program = workerProgram(
    t,
    `const { port } = workerData;
    App().get('/', (res) => res.end('worker ' + threadId))
      .listen('127.0.0.1', port, millrace.LIBUS_LISTEN_SHARED_PORT, (token) => {
        parentPort.postMessage(Boolean(token));
      });
    parentPort.on('message', () => process.exit(0));`,
    `App().get('/', (res) => res.end('main')).listen(
      '127.0.0.1', 0, millrace.LIBUS_LISTEN_SHARED_PORT, async (token) => {
        const workers = [1, 2, 3].map(() => startWorker({ port: us_socket_local_port(token) }));
        await Promise.all(workers.map(
          (worker) => new Promise((resolve) => worker.once('message', resolve))));
        tellPort(token);
        globalThis.onInput = async () => {
          for (const worker of workers) worker.postMessage('end');
          us_listen_socket_close(token);
        };
      });`,
  );
  const server = await program.server(t);
  const seen = new Set();
  for (let count = 0; count < 2000 && seen.size < 4; count++) {
    const client = await server.connect();
    client.send(get('/', 'Connection: close\r\n'));
    seen.add((await client.response()).text);
    await client.closed();
  }
  assert.deepEqual([...seen].sort(), ['main', 'worker 1', 'worker 2', 'worker 3']);
  program.child.stdin.write('end\n');
  await program.endsWell();
});

test('workers come and go, many times', async (t) => {
  const program = workerProgram(
    t,
    `App().get('/', (res) => res.end('ok')).listen('127.0.0.1', 0, (token) => {
      parentPort.postMessage(us_socket_local_port(token));
    });`,
    `import http from 'node:http';
    const ask = (port) => new Promise((resolve, reject) => {
      http.get({ port, host: '127.0.0.1', agent: false }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode));
      }).on('error', reject);
    });
    for (let round = 0; round < 10; round++) {
      const workers = [1, 2, 3].map(() => startWorker());
      const ports = await Promise.all(workers.map(
        (worker) => new Promise((resolve) => worker.once('message', resolve))));
      const statuses = await Promise.all(ports.map(ask));
      if (statuses.some((status) => status !== 200)) process.exit(9);
      await Promise.all(workers.map((worker) => worker.terminate()));
    }
    tell('all rounds');`,
  );
  await program.told(/all rounds/);
  await program.endsWell();
});

test('the process may exit while workers serve', async (t) => {
  const program = workerProgram(
    t,
    `App().get('/', (res) => { res.onAborted(() => {}); tell('waiting'); })
      .listen('127.0.0.1', 0, tellPort);`,
    'const worker = startWorker(); globalThis.onInput = () => process.exit(0);',
  );
  const server = await program.server(t);
  const client = await server.connect();
  client.send(get('/'));
  await program.told(/waiting/);
  program.child.stdin.write('end\n');
  await program.endsWell();
  await client.closed();
});

test('tokens, apps and responses of one thread are nothing in another', async (t) => {
  const program = workerProgram(
    t,
    `const token = workerData;
    for (const call of [us_listen_socket_close, us_socket_local_port]) {
      try { call(token); tell('taken'); } catch (error) { tell(error.name); }
    }`,
    `App().listen('127.0.0.1', 0, (token) => {
      startWorker({ ...token });
      us_listen_socket_close(token);
    });`,
  );
  await program.told(/^TypeError\nTypeError\n$/m);
  await program.endsWell();
});
