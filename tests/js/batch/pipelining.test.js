// Pipelining is ordered, not refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, get, post, random, serve, turns } from '../helpers.js';

/** A server that keeps its responses for the test to answer. */
function keeper(t, options) {
  const responses = [];
  const server = serve(
    t,
    (app) => {
      app.any('/*', (res) => {
        res.onAborted(() => {});
        responses.push(res);
      });
    },
    options,
  );
  return { server, responses };
}

test('answers may be given in any order, and leave in that of the requests', async (t) => {
  const { server, responses } = keeper(t);
  const client = await server.connect();
  client.send(get('/').repeat(8));
  await eventually(() => responses.length === 8, 'the requests');
  for (const index of [7, 3, 5, 1, 6, 2, 4]) responses[index].end(`answer ${index}`);
  await turns();
  assert.equal(client.receivedBytes, 0, 'the first is still to come');
  responses[0].end('answer 0');
  for (let index = 0; index < 8; index++) {
    assert.equal((await client.response()).text, `answer ${index}`);
  }
});

test('answers of all kinds and sizes keep the order', async (t) => {
  const { server, responses } = keeper(t);
  const number = random(99);
  const client = await server.connect();
  for (let round = 0; round < 5; round++) {
    responses.length = 0;
    client.send((get('/') + post('/', 'body')).repeat(12));
    await eventually(() => responses.length === 24, 'the requests');
    const bodies = responses.map((_, index) => `${index}:${'z'.repeat(number(50_000))}`);
    const order = responses.map((_, index) => index).sort(() => number(3) - 1);
    for (const index of order) {
      const res = responses[index];
      if (index % 3 === 0) res.end(bodies[index]);
      else if (index % 3 === 1) res.writeHeader('n', String(index)).end(bodies[index]);
      else {
        res.write(bodies[index].slice(0, 10));
        setTimeout(() => res.end(bodies[index].slice(10)), number(3));
      }
    }
    for (const body of bodies) assert.equal((await client.response()).text, body);
  }
});

test('a second request that comes while the first is pending is handled at once', async (t) => {
  const { server, responses } = keeper(t);
  const client = await server.connect();
  client.send(get('/first'));
  await eventually(() => responses.length === 1, 'the first request');
  client.send(get('/second'));
  await eventually(() => responses.length === 2, 'the second request');
  responses[1].end('second');
  responses[0].end('first');
  assert.equal((await client.response()).text, 'first');
  assert.equal((await client.response()).text, 'second');
});

test('beyond the limit the engine stops reading, and goes on with every answer', async (t) => {
  const { server, responses } = keeper(t);
  const client = await server.connect();
  client.send(get('/').repeat(100));
  await eventually(() => responses.length >= 32, '32 requests');
  await turns(20);
  assert.equal(responses.length, 32);
  for (let index = 0; index < 100; index++) {
    await eventually(() => responses.length > index, 'one more request');
    assert.ok(responses.length <= index + 32);
    responses[index].end(`answer ${index}`);
    assert.equal((await client.response()).text, `answer ${index}`);
  }
  assert.equal(server.app.stats().requests, 100);
});

test('the limit counts unanswered requests only, and can be set', async (t) => {
  const { server, responses } = keeper(t, { limits: { pipelineMax: 3 } });
  const client = await server.connect();
  client.send(get('/').repeat(9));
  await eventually(() => responses.length === 3, 'three requests');
  await turns(10);
  assert.equal(responses.length, 3);
  responses[2].end('out of order');
  await turns(10);
  responses[0].end('first');
  await eventually(() => responses.length > 3, 'a fourth request');
  for (let index = 0; index < 9; index++) {
    await eventually(() => responses.length > index, 'one more request');
    if (index !== 0 && index !== 2) responses[index].end('');
    await client.response();
  }
});

test('the body of a request behind an unanswered one can be read', async (t) => {
  const { server, responses } = keeper(t);
  const client = await server.connect();
  client.send(get('/first') + post('/second', 'second body') + get('/third'));
  await eventually(() => responses.length === 3, 'the requests');
  responses[1].onData((chunk, isLast) => {
    if (isLast) responses[1].end(Buffer.from(chunk));
  });
  responses[2].end('third');
  await turns();
  responses[0].end('first');
  for (const text of ['first', 'second body', 'third']) {
    assert.equal((await client.response()).text, text);
  }
});

test('an answer that ends the connection ends what is behind it', async (t) => {
  const aborts = [];
  const responses = [];
  const server = serve(t, (app) => {
    app.get('/:name', (res, req) => {
      const name = req.getParameter(0);
      res.onAborted(() => aborts.push(name));
      responses.push(res);
    });
  });
  const client = await server.connect();
  client.send(get('/one') + get('/two') + get('/three'));
  await eventually(() => responses.length === 3, 'the requests');
  responses[2].end('never seen');
  responses[0].end('last', true);
  const text = await client.rest();
  assert.ok(text.endsWith('\r\n\r\nlast'));
  assert.match(text, /\r\nConnection: close\r\n/);
  await turns();
  assert.deepEqual(aborts, ['two']);
});

test('two hundred requests in one write to a synchronous handler are all answered', async (t) => {
  const server = serve(t, (app) => {
    app.get('/:n', (res, req) => res.end(req.getParameter(0)));
  });
  const client = await server.connect();
  let wire = '';
  for (let index = 0; index < 200; index++) wire += get(`/${index}`);
  client.send(wire);
  for (let index = 0; index < 200; index++) {
    assert.equal((await client.response()).text, String(index));
  }
});
