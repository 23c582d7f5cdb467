// Connections: kept, ended, half-closed; Expect; HTTP/1.0.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { us_listen_socket_close } from 'millrace';
import { eventually, get, post, serve, turns, undated } from '../helpers.js';

function simple(t, seen = []) {
  return serve(t, (app) => {
    app.any('/*', (res, req) => {
      seen.push(req.getUrl());
      res.end(req.getUrl());
    });
  });
}

for (const value of ['close', 'Close', 'CLOSE', 'foo, close', 'close, foo', 'keep-alive, close']) {
  test(`Connection: ${value} ends the connection, and nothing behind it is handled`, async (t) => {
    const seen = [];
    const server = simple(t, seen);
    const client = await server.connect();
    client.send(get('/a', `Connection: ${value}\r\n`) + get('/b'));
    const answer = await client.response();
    assert.deepEqual([answer.text, answer.fields.connection], ['/a', 'close']);
    assert.equal(await client.rest(), '');
    assert.deepEqual(seen, ['/a']);
  });
}

for (const value of ['keep-alive', 'xyzzy', 'closed', 'Upgrade', '']) {
  test(`Connection: ${value} keeps the connection`, async (t) => {
    const server = simple(t);
    const client = await server.connect();
    client.send(get('/a', `Connection: ${value}\r\n`) + get('/b'));
    assert.equal((await client.response()).fields.connection, undefined);
    assert.equal((await client.response()).text, '/b');
  });
}

test('close over two field lines ends the connection', async (t) => {
  const server = simple(t);
  const client = await server.connect();
  client.send(get('/a', 'Connection: foo\r\nConnection: close\r\n'));
  assert.equal((await client.response()).fields.connection, 'close');
  assert.equal(await client.rest(), '');
});

test('HTTP/1.0 is answered and closed', async (t) => {
  const server = simple(t);
  for (const wire of ['GET /a HTTP/1.0\r\n\r\n', 'GET /a HTTP/1.0\r\nHost: x\r\n\r\n']) {
    const client = await server.connect();
    client.send(wire + wire);
    const expected =
      'HTTP/1.1 200 OK\r\nConnection: close\r\nDate: now\r\nContent-Length: 2\r\n\r\n/a';
    assert.equal(undated(await client.rest()), expected);
  }
});

test('HTTP/1.0 is kept only if it asks for it, and told so', async (t) => {
  const server = simple(t);
  const client = await server.connect();
  client.send('GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
  const answer = await client.response();
  assert.equal(answer.fields.connection.toLowerCase(), 'keep-alive');
  client.send('GET /b HTTP/1.0\r\n\r\n');
  assert.equal((await client.response()).fields.connection, 'close');
  assert.equal(await client.rest(), '');
});

test('HTTP/1.0 gets no chunks: the end of the connection ends the body', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      res.write('one ');
      res.onAborted(() => {});
      setImmediate(() => {
        res.write('two ');
        res.end('three');
      });
    }),
  );
  for (const fields of ['', 'Connection: keep-alive\r\n']) {
    const client = await server.connect();
    client.send(`GET / HTTP/1.0\r\n${fields}\r\n`);
    const answer = await client.response();
    assert.equal(answer.text, 'one two three');
    assert.equal(answer.fields['transfer-encoding'], undefined);
    assert.equal(answer.fields.connection, 'close');
  }
});

for (const value of ['100-continue', '100-Continue']) {
  test(`Expect: ${value} is told to go on, then answered`, async (t) => {
    const server = serve(t, (app) =>
      app.post('/', (res) => res.onData((chunk, isLast) => isLast && res.end(Buffer.from(chunk)))),
    );
    const client = await server.connect();
    client.send(`POST / HTTP/1.1\r\nHost: x\r\nExpect: ${value}\r\nContent-Length: 4\r\n\r\n`);
    assert.equal((await client.response()).head, 'HTTP/1.1 100 Continue\r\n\r\n');
    client.send('body');
    assert.equal((await client.response()).text, 'body');
  });
}

test('Expect without a body, and after a yield, brings no second 100', async (t) => {
  const server = serve(t, (app) => {
    app.post('/', (res, req) => req.setYield(true));
    app.any('/*', (res) => res.onData((_, isLast) => isLast && res.end('done')));
  });
  const client = await server.connect();
  client.send(get('/', 'Expect: 100-continue\r\n'));
  assert.equal((await client.response()).status, 200);
  client.send('POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n');
  assert.equal((await client.response()).status, 100);
  client.send('body');
  assert.equal((await client.response()).text, 'done');
});

test('a peer that ends its sending side gets its answers, and then the end', async (t) => {
  const responses = [];
  const server = serve(t, (app) => {
    app.get('/now', (res) => res.end('now'));
    app.get('/later', (res) => {
      res.onAborted(() => {});
      responses.push(res);
    });
  });
  const client = await server.connect();
  client.send(get('/now') + get('/later') + get('/later')).end();
  await eventually(() => responses.length === 2, 'the requests');
  await turns(10);
  responses[1].end('third');
  setImmediate(() => responses[0].end('second'));
  for (const text of ['now', 'second', 'third']) {
    assert.equal((await client.response()).text, text);
  }
  assert.equal(await client.rest(), '');
});

test('an idle peer that ends its sending side is let go', async (t) => {
  const server = simple(t);
  const client = await server.connect();
  client.send(get('/a'));
  await client.response();
  client.end();
  await client.closed();
  await eventually(() => server.app.stats().connections === 0, 'the end');
});

test('a connection that never sends, and one that resets at once, do no harm', async (t) => {
  const server = simple(t);
  const silent = await server.connect();
  const hasty = await server.connect();
  hasty.reset();
  silent.end();
  await silent.closed();
  await eventually(() => server.app.stats().connections === 0, 'the end of both');
  assert.equal(server.app.stats().accepted, 2);
});

test('a connection outlives the listener that brought it by one answer', async (t) => {
  const server = simple(t);
  const client = await server.connect();
  client.send(get('/a'));
  assert.equal((await client.response()).fields.connection, undefined);
  us_listen_socket_close(server.token);
  client.send(get('/b') + get('/c'));
  const response = await client.response();
  assert.equal(response.text, '/b');
  assert.equal(response.fields.connection, 'close');
  await client.closed();
  assert.equal(client.receivedBytes, 0, 'what stood behind is not run');
});

test('while another listener is open, connections go on', async (t) => {
  const server = simple(t);
  let second;
  server.app.listen('127.0.0.1', 0, (token) => (second = token));
  const client = await server.connect();
  us_listen_socket_close(server.token);
  client.send(get('/a'));
  assert.equal((await client.response()).fields.connection, undefined);
  us_listen_socket_close(second);
});

test('many requests one after the other on one connection', async (t) => {
  const server = serve(t, (app) => {
    app.get('/:n', (res, req) => res.end(req.getParameter(0)));
    app.post('/:n', (res, req) => {
      const name = req.getParameter(0);
      res.onData((_, isLast) => isLast && res.end(name));
    });
  });
  const client = await server.connect();
  for (let count = 0; count < 500; count++) {
    client.send(count % 2 === 0 ? get(`/${count}`) : post(`/${count}`, 'x'.repeat(count)));
    assert.equal((await client.response()).text, String(count));
  }
  assert.equal(server.app.stats().accepted, 1);
});

test('a handler that neither answers nor asks to be told is answered with 500', async (t) => {
  const warnings = [];
  const listener = (warning) => warnings.push(warning);
  process.on('warning', listener);
  t.after(() => process.off('warning', listener));
  const server = serve(t, (app) => {
    app.get('/nothing', () => {});
    app.get('/async/:nothing', async () => {
      await turns(1);
    });
  });
  for (const path of ['/nothing', '/async/x']) {
    const client = await server.connect();
    client.send(get(path) + get(path));
    const answer = await client.response();
    assert.deepEqual([answer.status, answer.fields.connection], [500, 'close']);
    assert.equal(await client.rest(), '');
  }
  await eventually(() => warnings.length >= 2, 'the warnings');
  for (const warning of warnings) {
    assert.equal(warning.code, 'MILLRACE_UNANSWERED');
    assert.match(warning.message, /GET \/(nothing|async\/:nothing)/);
  }
});

test('a handler that answers in its microtasks or its promise is not warned about', async (t) => {
  const warnings = [];
  const listener = (warning) => warnings.push(warning);
  process.on('warning', listener);
  t.after(() => process.off('warning', listener));
  const server = serve(t, (app) => {
    app.get('/microtask', (res) => queueMicrotask(() => res.end('microtask')));
    app.get('/tick', (res) => process.nextTick(() => res.end('tick')));
    app.get('/promise', async (res) => {
      await turns(3);
      res.end('promise');
    });
    app.get('/aborted', (res) => {
      res.onAborted(() => {});
      setTimeout(() => res.end('aborted'), 20);
    });
    app.get('/written', (res) => {
      res.onWritable(() => true);
      setTimeout(() => res.end('written'), 20);
    });
  });
  const client = await server.connect();
  for (const name of ['microtask', 'tick', 'promise', 'aborted', 'written']) {
    client.send(get(`/${name}`));
    assert.equal((await client.response()).text, name);
  }
  await turns();
  assert.deepEqual(warnings, []);
});
