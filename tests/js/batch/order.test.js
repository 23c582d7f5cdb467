// Events of one connection are handled in the order in which its bytes came.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { get, post, serve, turns } from '../helpers.js';

test('pipelined requests are handled in the order in which they were sent', async (t) => {
  const seen = [];
  const server = serve(t, (app) => {
    app.get('/:number', (res, req) => {
      seen.push(Number(req.getParameter(0)));
      res.end(req.getParameter(0));
    });
  });
  const client = await server.connect();
  const numbers = Array.from({ length: 200 }, (_, index) => index);
  client.send(numbers.map((number) => get(`/${number}`)).join(''));
  for (const number of numbers) assert.equal((await client.response()).text, String(number));
  assert.deepEqual(seen, numbers);
});

test('a body is delivered between its request and the next one', async (t) => {
  const seen = [];
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      seen.push('request');
      res.onData((chunk, isLast) => {
        seen.push(`body ${chunk.byteLength} ${isLast}`);
        if (isLast) res.end('read');
      });
    });
    app.get('/', (res) => {
      seen.push('next');
      res.end('next');
    });
  });
  const client = await server.connect();
  client.send(post('/', 'hello') + get('/') + post('/', 'worlds') + get('/'));
  for (const text of ['read', 'next', 'read', 'next']) {
    assert.equal((await client.response()).text, text);
  }
  const expected = ['request', 'body 5 true', 'next', 'request', 'body 6 true', 'next'];
  assert.deepEqual(seen, expected);
});

test('one batch may hold the requests of many connections', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', (res) => res.end('ok'));
  });
  const clients = await Promise.all(Array.from({ length: 20 }, () => server.connect()));
  await turns();
  const before = server.app.stats();
  for (const client of clients) client.send(get('/'));
  for (const client of clients) assert.equal((await client.response()).text, 'ok');
  const after = server.app.stats();
  assert.equal(after.requests - before.requests, 20);
  assert.ok(after.batches - before.batches < 20, 'fewer crossings than requests');
});

test('a request is followed by the abort of its connection', async (t) => {
  const seen = [];
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      seen.push('request');
      res.onAborted(() => seen.push('aborted'));
    });
  });
  const client = await server.connect();
  client.send(get('/'));
  while (seen.length === 0) await turns(1);
  client.reset();
  while (seen.length === 1) await turns(1);
  assert.deepEqual(seen, ['request', 'aborted']);
});
