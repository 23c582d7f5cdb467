// How processes end: by themselves when nothing is left to wait for, and cleanly when told to.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Program, get } from '../helpers.js';

test('a program that only loads the module, or only makes apps, ends', async (t) => {
  await new Program(t, '').endsWell();
  await new Program(t, "App().get('/', (res) => res.end());").endsWell();
  await new Program(t, 'App().close().close();').endsWell();
});

test('a program that listens lives until its listener is closed', async (t) => {
  const program = new Program(
    t,
    `App().get('/', (res) => res.end('alive')).get('/stop', (res) => {
      us_listen_socket_close(token);
      res.end('stopping', true);
    }).listen('127.0.0.1', 0, (result) => { globalThis.token = result; tellPort(result); });
    const { token } = globalThis;`,
  );
  const server = await program.server(t);
  const client = await server.connect();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'alive');
  client.send(get('/stop'));
  assert.equal((await client.response()).text, 'stopping');
  await client.closed();
  await program.endsWell();
});

test('a program whose app is closed ends, though connections were open', async (t) => {
  const program = new Program(
    t,
    `const app = App().get('/idle', (res) => res.end('idle'))
      .get('/wait', (res) => res.onAborted(() => tell('aborted')))
      .get('/close', () => app.close())
      .listen('127.0.0.1', 0, tellPort);`,
  );
  const server = await program.server(t);
  const [idle, waiting, closing] = await Promise.all([1, 2, 3].map(() => server.connect()));
  idle.send(get('/idle'));
  await idle.response();
  waiting.send(get('/wait'));
  closing.send(get('/close'));
  await program.endsWell();
  for (const client of [idle, waiting, closing]) await client.closed();
});

test('an open connection keeps the program, an idle one until its timeout', async (t) => {
  const program = new Program(
    t,
    `App({ limits: { keepAliveTimeoutMs: 200 } })
      .get('/', (res) => { us_listen_socket_close(token); res.end('last'); })
      .listen('127.0.0.1', 0, (result) => { globalThis.token = result; tellPort(result); });
    const { token } = globalThis;`,
  );
  const server = await program.server(t);
  const client = await server.connect();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'last');
  await client.closed();
  await program.endsWell();
});

test('an answer that waits for its peer keeps the program', async (t) => {
  const program = new Program(
    t,
    `App().get('/', (res) => {
      us_listen_socket_close(token);
      res.end('x'.repeat(20_000_000), true);
    }).listen('127.0.0.1', 0, (result) => { globalThis.token = result; tellPort(result); });
    const { token } = globalThis;`,
  );
  const server = await program.server(t);
  const client = await server.connect({ isPaused: true });
  client.send(get('/'));
  await new Promise((resolve) => setTimeout(resolve, 100));
  client.socket.resume();
  assert.equal((await client.response()).text.length, 20_000_000);
  await client.closed();
  await program.endsWell();
});

const endings = {
  'process.exit(3)': { code: 3, signal: null },
  'process.reallyExit(4)': { code: 4, signal: null },
  'process.kill(process.pid, "SIGTERM")': { code: null, signal: 'SIGTERM' },
};

for (const [ending, expected] of Object.entries(endings)) {
  for (const place of ['handler', 'onData', 'onAborted', 'timer', 'microtask', 'listen']) {
    test(`${ending} inside ${place} ends the program as Node does`, async (t) => {
      const program = new Program(t, exitProgram(place, ending));
      if (place !== 'listen') {
        const server = await program.server(t);
        const client = await server.connect();
        client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhello');
        await program.told(/request/);
        if (place === 'onAborted') client.reset();
      }
      assert.deepEqual(await program.end(), expected, program.stderr);
    });
  }
}

function exitProgram(place, ending) {
  return `
  const place = ${JSON.stringify(place)};
  const end = () => { ${ending}; while (true); };
  App().post('/', (res) => {
    tell('request');
    res.onAborted(() => place === 'onAborted' && end());
    if (place === 'handler') end();
    if (place === 'onData') res.onData(end);
    if (place === 'timer') setTimeout(end, 5);
    if (place === 'microtask') queueMicrotask(end);
  }).listen('127.0.0.1', 0, (token) => {
    if (place === 'listen') end();
    tellPort(token);
  });`;
}

test('a program that is told to end while answers are queued ends at once', async (t) => {
  const program = new Program(
    t,
    `App().get('/', (res) => {
      res.onAborted(() => {});
      while (res.write('x'.repeat(1_000_000)));
      tell('full');
      setImmediate(() => process.exit(0));
    }).listen('127.0.0.1', 0, tellPort);`,
  );
  const server = await program.server(t);
  const client = await server.connect({ isPaused: true });
  client.send(get('/'));
  await program.told(/full/);
  await program.endsWell();
});

test('an unhandled rejection outside a handler ends the program as Node does', async (t) => {
  const program = new Program(
    t,
    `App().get('/', (res) => {
      res.end('answered');
      Promise.reject(new Error('nobody cares'));
    }).listen('127.0.0.1', 0, tellPort);`,
  );
  const server = await program.server(t);
  const client = await server.connect();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'answered');
  assert.deepEqual(await program.end(), { code: 1, signal: null });
  assert.match(program.stderr, /nobody cares/);
});
