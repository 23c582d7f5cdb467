// Timeouts, with limits small enough to be met. Nothing here measures how long they take, only
// what happens, and that it does not happen to those who make progress.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deferred, eventually, get, serve } from '../helpers.js';

test('a head that does not become complete is answered with 408', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end()), {
    limits: { headTimeoutMs: 100 },
  });
  const client = await server.connect();
  client.send('GET / HTTP/1.1\r\n');
  const answer = await client.response();
  assert.deepEqual([answer.status, answer.fields.connection], [408, 'close']);
  assert.equal(await client.rest(), '');
  assert.equal(server.app.stats().timeouts, 1);
});

test('a head that comes byte by byte is not waited for any longer', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end()), {
    limits: { headTimeoutMs: 200 },
  });
  const client = await server.connect();
  client.send('GET / HTTP/1.1\r\n');
  const dripping = setInterval(() => client.socket.writable && client.send('a: b\r\n'), 20);
  t.after(() => clearInterval(dripping));
  assert.equal((await client.response()).status, 408);
});

test('a peer that sends nothing is let go without a word', async (t) => {
  const server = serve(t, () => {}, { limits: { headTimeoutMs: 100 } });
  const client = await server.connect();
  assert.equal(await client.rest(), '');
});

test('an idle connection is let go after its answer', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end('ok')), {
    limits: { keepAliveTimeoutMs: 100 },
  });
  const client = await server.connect();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'ok');
  assert.equal(await client.rest(), '');
});

test('a body that stops coming is aborted', async (t) => {
  const aborted = deferred();
  const server = serve(
    t,
    (app) =>
      app.post('/', (res) => {
        res.onAborted(() => aborted.resolve());
        res.onData(() => {});
      }),
    { limits: { bodyIdleTimeoutMs: 100 } },
  );
  const client = await server.connect();
  client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhello');
  await aborted.promise;
  await client.closed();
});

test('a slow body that goes on is read to its end', async (t) => {
  const server = serve(
    t,
    (app) => app.post('/', (res) => res.onData((_, isLast) => isLast && res.end('read'))),
    { limits: { bodyIdleTimeoutMs: 2000 } },
  );
  const client = await server.connect();
  client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n');
  for (let count = 0; count < 30; count++) {
    client.send('x');
    await sleep(100);
  }
  assert.equal((await client.response()).text, 'read');
});

test('a paused body is not timed out', async (t) => {
  let pending;
  const server = serve(
    t,
    (app) =>
      app.post('/', (res) => {
        pending = res;
        res.onAborted(() => {});
        res.pause();
        res.onData((_, isLast) => isLast && res.end('read'));
      }),
    { limits: { bodyIdleTimeoutMs: 500 } },
  );
  const client = await server.connect();
  client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhello');
  await eventually(() => pending !== undefined, 'the request');
  await sleep(1500);
  client.send('world');
  pending.resume();
  assert.equal((await client.response()).text, 'read');
});

test('a handler may take as long as it likes', async (t) => {
  const server = serve(
    t,
    (app) =>
      app.get('/', (res) => {
        res.onAborted(() => {});
        setTimeout(() => res.end('late'), 1500);
      }),
    {
      limits: {
        headTimeoutMs: 100,
        keepAliveTimeoutMs: 100,
        bodyIdleTimeoutMs: 100,
        writeStallTimeoutMs: 100,
      },
    },
  );
  const client = await server.connect();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'late');
});

test('a peer that never reads is let go, and its response aborted', async (t) => {
  const aborted = deferred();
  const server = serve(
    t,
    (app) =>
      app.get('/', (res) => {
        res.onAborted(() => aborted.resolve());
        while (res.write('x'.repeat(1_000_000)));
      }),
    { limits: { writeStallTimeoutMs: 300 } },
  );
  const client = await server.connect({ isPaused: true });
  client.send(get('/'));
  await aborted.promise;
  await eventually(() => server.app.stats().connections === 0, 'the end');
});

test('a peer that never reads is let go after a complete answer too', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end('x'.repeat(32_000_000))), {
    limits: { writeStallTimeoutMs: 300 },
  });
  const client = await server.connect({ isPaused: true });
  client.send(get('/'));
  await eventually(() => server.app.stats().requests === 1, 'the request');
  await eventually(() => server.app.stats().connections === 0, 'the end');
});

test('an answer that closes waits a while for the peer, and no longer', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end('bye', true)), {
    limits: { lingerTimeoutMs: 100 },
  });
  const client = await server.connect();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'bye');
  await eventually(() => server.app.stats().connections === 0, 'the end');
});
