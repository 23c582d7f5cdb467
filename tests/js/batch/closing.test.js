// Gone is gone: what is closed inside a batch gets no later event of it but its one abort.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, get, post, serve, turns } from '../helpers.js';

test('requests behind one whose handler closes the connection are not handled', async (t) => {
  const seen = [];
  const server = serve(t, (app) => {
    app.get('/close', (res) => {
      res.onAborted(() => seen.push('aborted'));
      seen.push('closing');
      res.close();
      seen.push('closed');
    });
    app.get('/later', () => seen.push('later'));
  });
  const client = await server.connect();
  client.send(get('/close') + get('/later') + get('/later'));
  await client.closed();
  await turns();
  assert.deepEqual(seen, ['closing', 'aborted', 'closed']);
  assert.equal(client.receivedBytes, 0);
});

test('an unanswered request before the one that closes is aborted once', async (t) => {
  const seen = [];
  const server = serve(t, (app) => {
    app.get('/wait', (res) => res.onAborted(() => seen.push('wait aborted')));
    app.get('/close', (res) => {
      res.onAborted(() => seen.push('close aborted'));
      res.close();
    });
  });
  const client = await server.connect();
  client.send(get('/wait') + get('/close'));
  await client.closed();
  await turns();
  assert.deepEqual(seen.sort(), ['close aborted', 'wait aborted']);
});

test('the body that came with a request is not delivered after a close', async (t) => {
  let deliveries = 0;
  let aborts = 0;
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      res.onData(() => deliveries++);
      res.onAborted(() => aborts++);
      res.close();
    });
  });
  const client = await server.connect();
  client.send(post('/', 'hello'));
  await client.closed();
  await turns();
  assert.deepEqual({ deliveries, aborts }, { deliveries: 0, aborts: 1 });
});

test('a close inside onData ends the deliveries', async (t) => {
  const seen = [];
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      res.onAborted(() => seen.push('aborted'));
      res.onData((chunk, isLast) => {
        seen.push(Buffer.from(chunk).toString());
        if (!isLast) res.close();
      });
    });
  });
  const client = await server.connect();
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  client.send(`${head}3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n`);
  await client.closed();
  await turns();
  assert.deepEqual(seen, ['one', 'aborted']);
});

test('a body is not delivered on when an answer before it has ended the connection', async (t) => {
  const seen = [];
  let first;
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      first = res;
      res.onAborted(() => {});
    });
    app.post('/', (res) => {
      res.onAborted(() => seen.push('aborted'));
      res.onData((chunk) => {
        seen.push(Buffer.from(chunk).toString());
        if (seen.length === 1) first.end('last', true);
      });
    });
  });
  const client = await server.connect();
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  client.send(`${get('/')}${head}3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n`);
  assert.equal((await client.response()).text, 'last');
  assert.equal(await client.rest(), '');
  await turns();
  assert.deepEqual(seen, ['one', 'aborted']);
});

test('a handler may close a connection whose events stand later in the batch', async (t) => {
  const seen = [];
  let victim;
  const server = serve(t, (app) => {
    app.post('/victim', (res) => {
      victim = res;
      res.onAborted(() => seen.push('aborted'));
      res.onData(() => seen.push('body'));
    });
    app.get('/close', (res) => {
      victim.close();
      res.end('closed');
    });
  });
  const first = await server.connect();
  first.send('POST /victim HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n');
  await eventually(() => victim !== undefined, 'the request');
  const second = await server.connect();
  // The closer is sent first; where the body is handled first nothing is wrong either.
  second.send(get('/close'));
  first.send('hello');
  assert.equal((await second.response()).text, 'closed');
  await first.closed();
  await turns();
  assert.equal(seen.at(-1), 'aborted');
  assert.equal(seen.filter((event) => event === 'aborted').length, 1);
});

test('app.close() inside a batch aborts all that is open, each once', async (t) => {
  const aborts = new Map();
  let handled = 0;
  let waiting = 0;
  const server = serve(t, (app) => {
    app.get('/wait/:name', (res, req) => {
      const name = req.getParameter(0);
      waiting++;
      res.onAborted(() => aborts.set(name, (aborts.get(name) ?? 0) + 1));
    });
    app.get('/close', (res) => {
      res.onAborted(() => aborts.set('closer', (aborts.get('closer') ?? 0) + 1));
      app.close();
    });
    app.get('/later', () => handled++);
  });
  const waiters = await Promise.all(Array.from({ length: 10 }, () => server.connect()));
  waiters.forEach((client, index) => client.send(get(`/wait/${index}`)));
  await eventually(() => waiting === 10, 'ten requests');
  const closer = await server.connect();
  closer.send(get('/close') + get('/later'));
  for (const client of [...waiters, closer]) await client.closed();
  await turns();
  assert.equal(aborts.size, 11);
  assert.deepEqual(new Set(aborts.values()), new Set([1]));
  assert.equal(handled, 0);
  assert.equal(server.app.stats().connections, 0);
});

test('what was answered before app.close() in the same handler reaches the peer', async (t) => {
  for (const body of ['bye', 'b'.repeat(50_000)]) {
    const server = serve(t, (app) => {
      app.get('/', (res) => {
        res.end(body);
        app.close();
      });
    });
    const client = await server.connect();
    client.send(get('/'));
    assert.equal((await client.response()).text, body);
    await client.closed();
  }
});

test('what was answered before a close behind it on the connection reaches the peer', async (t) => {
  const server = serve(t, (app) => {
    app.get('/answer', (res) => res.end('answered'));
    app.get('/close', (res) => res.close());
  });
  const client = await server.connect();
  client.send(get('/answer') + get('/close'));
  assert.equal((await client.response()).text, 'answered');
  await client.closed();
});

test('a reset is told once, and not to a response that is complete', async (t) => {
  let aborts = 0;
  const server = serve(t, (app) => {
    app.get('/done', (res) => {
      res.onAborted(() => aborts++);
      res.end('done');
    });
    app.get('/wait', (res) => res.onAborted(() => aborts++));
  });
  const client = await server.connect();
  client.send(get('/done') + get('/wait') + get('/wait'));
  await client.response();
  client.reset();
  await eventually(() => aborts > 0, 'an abort');
  await turns();
  assert.equal(aborts, 2);
});

test('aborts run while the closing call has not returned, and may close again', async (t) => {
  const seen = [];
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      res.onAborted(() => {
        seen.push('aborted');
        app.close();
        assert.throws(() => res.close(), { code: 'ERR_MILLRACE_RESPONSE_GONE' });
      });
      app.close();
      seen.push('returned');
    });
  });
  const client = await server.connect();
  client.send(get('/'));
  await client.closed();
  assert.deepEqual(seen, ['aborted', 'returned']);
});
