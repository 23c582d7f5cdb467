// Answers from outside a batch: from timers, microtasks and other work.

import assert from 'node:assert/strict';
import process from 'node:process';
import { test } from 'node:test';
import { eventually, get, Program, serve, turns } from '../helpers.js';

/** A server that keeps its responses, and `count` connections with one request each. */
async function waitingRequests(t, count) {
  const responses = [];
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      res.onAborted(() => {});
      responses.push(res);
    });
  });
  const clients = await Promise.all(Array.from({ length: count }, () => server.connect()));
  for (const client of clients) client.send(get('/'));
  await eventually(() => responses.length === count, 'the requests');
  await turns();
  return { server, responses, clients };
}

test('an answer from a timer is written at the end of its microtasks', async (t) => {
  const { server, responses, clients } = await waitingRequests(t, 1);
  const before = server.app.stats().writes;
  responses[0].end('from a timer');
  assert.equal(server.app.stats().writes, before, 'it is gathered');
  await null;
  await null;
  assert.equal(server.app.stats().writes, before + 1);
  assert.equal((await clients[0].response()).text, 'from a timer');
});

test('pieces of one answer from a timer leave in one write', async (t) => {
  const { server, responses, clients } = await waitingRequests(t, 1);
  const before = server.app.stats().writes;
  setTimeout(() => {
    responses[0].writeHeader('a', 'b');
    for (let count = 0; count < 10; count++) responses[0].write('piece');
    responses[0].end('last');
  }, 1);
  assert.equal((await clients[0].response()).text, `${'piece'.repeat(10)}last`);
  assert.equal(server.app.stats().writes, before + 1);
});

test('answers of one connection that complete in one timer leave in one write', async (t) => {
  const responses = [];
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      res.onAborted(() => {});
      responses.push(res);
    });
  });
  const client = await server.connect();
  client.send(get('/').repeat(20));
  await eventually(() => responses.length === 20, 'the requests');
  await turns();
  const before = server.app.stats().writes;
  setTimeout(() => responses.forEach((res, index) => res.end(`answer ${index}`)), 1);
  for (let index = 0; index < 20; index++) {
    assert.equal((await client.response()).text, `answer ${index}`);
  }
  assert.equal(server.app.stats().writes, before + 1);
});

test('answers to many connections from one timer cost one write each', async (t) => {
  const { server, responses, clients } = await waitingRequests(t, 10);
  const before = server.app.stats().writes;
  setImmediate(() => responses.forEach((res, index) => res.end(`answer ${index}`)));
  const texts = await Promise.all(clients.map(async (client) => (await client.response()).text));
  assert.deepEqual(
    texts.sort(),
    Array.from({ length: 10 }, (_, index) => `answer ${index}`),
  );
  assert.equal(server.app.stats().writes, before + 10);
});

test('answers to many connections leave in one system call where they may', async (t) => {
  const { server, responses, clients } = await waitingRequests(t, 10);
  const before = server.app.stats().groupedWrites;
  setImmediate(() => responses.forEach((res, index) => res.end(`answer ${index}`)));
  for (const client of clients) assert.match((await client.response()).text, /^answer \d$/);
  const { groupedWrites } = server.app.stats();
  if (groupedWrites === 0) return t.skip('this kernel or container does not allow io_uring');
  assert.equal(groupedWrites, before + 10);
});

test('MILLRACE_IO_URING=0 leaves each connection a call of its own', async (t) => {
  const source = `
    const responses = [];
    const app = App().get('/', (res) => {
      res.onAborted(() => {});
      if (responses.push(res) === 3) setImmediate(() => responses.forEach((one) => one.end('a')));
    });
    app.get('/grouped', (res) => res.end(String(app.stats().groupedWrites)));
    app.listen('127.0.0.1', 0, tellPort);
  `;
  const env = { ...process.env, MILLRACE_IO_URING: '0' };
  const server = await new Program(t, source, [], env).server(t);
  const clients = await Promise.all(Array.from({ length: 3 }, () => server.connect()));
  for (const client of clients) client.send(get('/'));
  for (const client of clients) assert.equal((await client.response()).text, 'a');
  clients[0].send(get('/grouped'));
  assert.equal((await clients[0].response()).text, '0');
});

test('answers given in microtasks of handlers leave with the batch', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', async (res) => {
      await null;
      res.end('from a microtask');
    });
  });
  const client = await server.connect();
  // A machine that is busy may make two batches of one; it is not busy all the time.
  await eventually(async () => {
    const before = server.app.stats().writes;
    client.send(get('/').repeat(10));
    for (let index = 0; index < 10; index++) {
      assert.equal((await client.response()).text, 'from a microtask');
    }
    return server.app.stats().writes === before + 1;
  }, 'ten answers in one write');
});

test('an answer that waits for a tick, an immediate or a timer needs no cork', async (t) => {
  const server = serve(t, (app) => {
    for (const [path, later] of Object.entries({
      '/tick': process.nextTick,
      '/immediate': setImmediate,
      '/timer': (answer) => setTimeout(answer, 2),
      '/thread': (answer) => import('node:fs').then((fs) => fs.stat('/', answer)),
    })) {
      app.get(path, (res) => {
        res.onAborted(() => {});
        later(() => res.writeStatus('202 Accepted').writeHeader('path', path).end(path));
      });
    }
  });
  const client = await server.connect();
  const paths = ['/tick', '/immediate', '/timer', '/thread'];
  client.send(paths.map((path) => get(path)).join(''));
  for (const path of paths) {
    const answer = await client.response();
    assert.deepEqual([answer.status, answer.fields.path, answer.text], [202, path, path]);
  }
});

test('more short answers than the shared memory holds in one timer all arrive', async (t) => {
  const responses = [];
  const server = serve(
    t,
    (app) => {
      app.get('/', (res) => {
        res.onAborted(() => {});
        responses.push(res);
      });
    },
    { limits: { pipelineMax: 10_000 } },
  );
  const client = await server.connect();
  const count = 5000;
  client.send(get('/').repeat(count));
  await eventually(() => responses.length === count, 'the requests');
  const body = 'y'.repeat(120);
  setTimeout(() => responses.forEach((res) => res.end(body)), 1);
  for (let index = 0; index < count; index++) assert.equal((await client.response()).text, body);
});
