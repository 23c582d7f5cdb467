// Memory: what is over is let go. The programs collect garbage themselves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Program, get, post } from '../helpers.js';

const prelude = `
const turns = async (count) => {
  while (count-- > 0) await new Promise((resolve) => setImmediate(resolve));
};
const collect = async () => {
  for (let round = 0; round < 5; round++) {
    gc();
    await turns(3);
  }
};
let made = 0;
let gone = 0;
const registry = new FinalizationRegistry(() => gone++);
const note = (object) => {
  made++;
  registry.register(object);
};
process.stdin.on('data', async () => {
  await collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  tell(['made', made, 'gone', gone, 'used', heapUsed + external + arrayBuffers].join(' '));
});
`;

/** Starts a program; `measure()` gives what it has made, what is gone, and the bytes in use. */
async function start(t, source) {
  const program = new Program(t, prelude + source, ['--expose-gc']);
  const server = await program.server(t);
  let measured = 0;
  const measure = async () => {
    measured++;
    program.child.stdin.write('measure\n');
    const found = await program.told(
      new RegExp(`(?:made[^]*?){${measured - 1}}made (\\d+) gone (\\d+) used (\\d+)\n`),
    );
    return { made: Number(found[1]), gone: Number(found[2]), used: Number(found[3]) };
  };
  return { server, measure };
}

test('requests and responses are let go when they are answered', async (t) => {
  const { server, measure } = await start(
    t,
    `App().any('/*', (res, req) => {
      note(res);
      note(req);
      if (made % 3 === 0) res.onAborted(() => note);
      if (made % 5 === 0) {
        res.onAborted(() => {});
        setTimeout(() => res.end('later'), 1);
      } else res.end('now');
    }).listen('127.0.0.1', 0, tellPort);`,
  );
  const client = await server.connect();
  for (let round = 0; round < 500; round++) {
    client.send(get('/') + get('/'));
    await client.response();
    await client.response();
  }
  const { made, gone } = await measure();
  assert.equal(made, 2000);
  assert.ok(gone > 1900, `${gone} of ${made} are gone`);
});

test('responses are let go when they are aborted', async (t) => {
  const { server, measure } = await start(
    t,
    `App().get('/', (res) => {
      note(res);
      res.onAborted(() => {});
      res.onData(() => {});
      res.onWritable(() => true);
      tell('waiting');
    }).listen('127.0.0.1', 0, tellPort);`,
  );
  for (let round = 0; round < 100; round++) {
    const client = await server.connect();
    client.send(get('/') + get('/'));
    client.reset();
  }
  const client = await server.connect();
  client.send(get('/missing'));
  await client.response();
  const { made, gone } = await measure();
  assert.ok(gone >= made - 4, `${gone} of ${made} are gone`);
});

test('handlers are let go when their route is replaced or taken away', async (t) => {
  const { server, measure } = await start(
    t,
    `const app = App();
    for (let count = 0; count < 500; count++) {
      const handler = (res) => res.end(String(count));
      note(handler);
      app.get('/' + count % 10, handler);
    }
    for (let count = 0; count < 10; count++) app.get('/' + count, null);
    app.listen('127.0.0.1', 0, tellPort);`,
  );
  const client = await server.connect();
  client.send(get('/1'));
  assert.equal((await client.response()).status, 404);
  const { made, gone } = await measure();
  assert.ok(gone >= made - 4, `${gone} of ${made} are gone`);
});

test('memory does not grow with the number of requests, bodies and connections', async (t) => {
  const { server, measure } = await start(
    t,
    `App()
      .get('/', (res) => res.end('ok'))
      .post('/', (res) => res.onData((chunk, isLast) => isLast && res.end('read')))
      .listen('127.0.0.1', 0, tellPort);`,
  );
  const round = async () => {
    for (let count = 0; count < 40; count++) {
      const client = await server.connect();
      client.send((get('/') + post('/', 'b'.repeat(100_000))).repeat(5));
      for (let answers = 0; answers < 10; answers++) await client.response();
      client.reset();
    }
  };
  await round();
  const before = await measure();
  for (let count = 0; count < 4; count++) await round();
  const after = await measure();
  const growth = after.used - before.used;
  assert.ok(growth < 8_000_000, `${growth} bytes more`);
});
