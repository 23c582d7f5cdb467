// App: its options, its routes, its life.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import millrace, * as named from 'millrace';
import { Client, ask, eventually, get, post, serve } from '../helpers.js';

const { App } = named;
const wrongType = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
const outOfRange = { name: 'RangeError', code: 'ERR_OUT_OF_RANGE' };

test('App() refuses what is not an object of options', () => {
  for (const value of [null, 5, 'x', true, [], () => {}, Symbol('s'), 1n]) {
    assert.throws(() => App(value), wrongType);
    assert.throws(() => new App(value), wrongType);
  }
  assert.throws(() => App({}, {}), wrongType);
});

test('App() refuses wrong options', () => {
  for (const value of [null, 1, 'true', {}]) {
    assert.throws(() => App({ automaticHead: value }), wrongType);
    assert.throws(() => App({ methodNotAllowed: value }), wrongType);
  }
  for (const value of [null, 1, 'x', []]) assert.throws(() => App({ limits: value }), wrongType);
  assert.throws(() => App({ limits: { noSuchLimit: 1 } }), wrongType);
  assert.throws(() => App({ limits: { constructor: 1 } }), wrongType);
  for (const value of [null, '1', 0.5, Number.NaN, -1, 2 ** 33, 1n, true]) {
    assert.throws(() => App({ limits: { headTimeoutMs: value } }), outOfRange);
  }
});

test('every limit is taken at both ends of its range, and not beyond', () => {
  const ranges = {
    headBytesMax: [64, 256 * 1024],
    fieldsMax: [1, 65535],
    chunkExtensionBytesMax: [0, 0xffffffff],
    trailerBytesMax: [0, 0xffffffff],
    chunkOverheadPercentMax: [0, 0xffffffff],
    bodyHoldBytesMax: [1, 0x7fffffff],
    bodyDiscardBytesMax: [0, 0xffffffff],
    pipelineMax: [1, 65535],
    headTimeoutMs: [1, 0x7fffffff],
    bodyIdleTimeoutMs: [1, 0x7fffffff],
    keepAliveTimeoutMs: [1, 0x7fffffff],
    writeStallTimeoutMs: [1, 0x7fffffff],
    lingerTimeoutMs: [1, 0x7fffffff],
  };
  for (const [name, [least, most]] of Object.entries(ranges)) {
    for (const value of [least, most]) App({ limits: { [name]: value } }).close();
    for (const value of [least - 1, most + 1]) {
      assert.throws(() => App({ limits: { [name]: value } }), outOfRange, `${name}: ${value}`);
    }
    App({ limits: { [name]: undefined } }).close();
  }
});

test('App() works with and without new, with no options, undefined and unknown ones', () => {
  for (const app of [App(), new App(), App(undefined), App({}), App({ key_file_name: 'x' })]) {
    assert.equal(app.close(), app);
  }
});

test('the module says the same to import, to require and by its default export', () => {
  const required = createRequire(import.meta.url)('millrace');
  for (const name of Object.keys(millrace)) {
    assert.equal(named[name], millrace[name]);
    assert.equal(required[name], millrace[name]);
  }
  const exported = Object.keys(named).filter((name) => name !== 'default');
  assert.deepEqual(exported.sort(), Object.keys(millrace).sort());
});

const registrations = 'get post options del patch put head connect trace any'.split(' ');

test('registration refuses wrong patterns and handlers, and returns the app', () => {
  const app = App();
  for (const name of registrations) {
    assert.equal(
      app[name]('/', () => {}),
      app,
    );
    for (const value of [5, null, {}, true, undefined, '', Symbol('s'), 1n]) {
      assert.throws(() => app[name](value, () => {}), wrongType);
    }
    for (const value of [undefined, 5, 'x', {}, [], true, new ArrayBuffer(4)]) {
      assert.throws(() => app[name]('/', value), wrongType);
    }
    assert.throws(() => app[name](), wrongType);
  }
  app.close();
});

test('every method of registration answers its method of HTTP, and no other', async (t) => {
  const methods = {
    get: 'GET',
    post: 'POST',
    options: 'OPTIONS',
    del: 'DELETE',
    patch: 'PATCH',
    put: 'PUT',
    trace: 'TRACE',
  };
  const server = serve(t, (app) => {
    for (const name of Object.keys(methods)) app[name](`/${name}`, (res) => res.end(name));
  });
  for (const name of Object.keys(methods)) {
    for (const [other, method] of Object.entries(methods)) {
      const answer = await ask(server, `${method} /${name} HTTP/1.1\r\nHost: x\r\n\r\n`);
      assert.equal(answer.status, name === other ? 200 : 404);
      if (name === other) assert.equal(answer.text, name);
    }
  }
});

test('any() takes every method, known and unknown', async (t) => {
  const server = serve(t, (app) => {
    app.any('/', (res, req) => res.end(req.getCaseSensitiveMethod()));
  });
  for (const method of ['GET', 'DELETE', 'PROPFIND', 'get', 'M-SEARCH', "!#$%&'*+-.^_`|~9z"]) {
    const answer = await ask(server, `${method} / HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.equal(answer.text, method);
  }
});

test('a pattern may be bytes', async (t) => {
  const text = Buffer.from('xx/bytes');
  const server = serve(t, (app) => {
    app.get(text.subarray(2), (res) => res.end('a view'));
    app.get(new TextEncoder().encode('/buffer').buffer, (res) => res.end('a buffer'));
  });
  assert.equal((await ask(server, get('/bytes'))).text, 'a view');
  assert.equal((await ask(server, get('/buffer'))).text, 'a buffer');
});

test('the same method and pattern again replaces the handler, null removes it', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', (res) => res.end('first'));
    app.get('/', (res) => res.end('second'));
  });
  assert.equal((await ask(server, get('/'))).text, 'second');
  server.app.get('/', (res) => res.end('third'));
  assert.equal((await ask(server, get('/'))).text, 'third');
  server.app.get('/', null).get('/', null).post('/never', null);
  assert.equal((await ask(server, get('/'))).status, 404);
});

test('a request whose route is taken away while it is pending keeps its handler', async (t) => {
  let pending;
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      pending = res;
      res.onAborted(() => {});
    });
  });
  const client = await server.connect();
  client.send(get('/'));
  await eventually(() => pending !== undefined, 'the request');
  server.app.get('/', null);
  pending.end('still answered');
  assert.equal((await client.response()).text, 'still answered');
});

test('a route that is taken away in the batch of its request is not found', async (t) => {
  const server = serve(t, (app) => {
    app.get('/remove', (res) => {
      app.get('/gone', null);
      res.end('removed');
    });
    app.get('/gone', (res) => res.end('handled'));
  });
  const client = await server.connect();
  client.send(get('/remove') + get('/gone'));
  assert.equal((await client.response()).text, 'removed');
  assert.equal((await client.response()).status, 404);
});

test('a handler gets two arguments', async (t) => {
  const seen = [];
  const server = serve(t, (app) => {
    app.get('/rest', (...values) => {
      seen.push(values.length);
      values[0].end();
    });
    app.get('/arguments', function (res) {
      seen.push(arguments.length);
      res.end();
    });
    app.get('/bound', ((first, res, req) => res.end(first + req.getUrl())).bind(null, 'bound'));
    app.get('/default', (res, req = undefined) => res.end(req.getUrl()));
    app.get('/none', function () {
      arguments[0].end('none');
    });
    app.get('/one', (res) => res.end('one'));
    const handlers = {
      ['a(b)'](res, ...rest) {
        res.end(rest[0].getUrl());
      },
      shorthand(res) {
        res.end('shorthand');
      },
      async later(res) {
        await null;
        res.end('later');
      },
    };
    app.get('/computed', handlers['a(b)']);
    app.get('/shorthand', handlers.shorthand);
    app.get('/later', handlers.later);
    app.get('/pattern', ({ constructor: _ }, ...rest) => seen.push(rest.length));
    // Made of text, since formatters take the escape out.
    app.get('/escaped', new Function('res', 'res.end(String(\\u0061rguments.length))'));
    // prettier-ignore
    app.get('/bare', res => res.end('bare'));
  });
  assert.equal((await ask(server, get('/computed'))).text, '/computed');
  assert.equal((await ask(server, get('/shorthand'))).text, 'shorthand');
  assert.equal((await ask(server, get('/later'))).text, 'later');
  assert.equal((await ask(server, get('/escaped'))).text, '2');
  assert.equal((await ask(server, get('/bare'))).text, 'bare');
  await ask(server, get('/pattern'));
  assert.deepEqual(seen.splice(0), [1]);
  await ask(server, get('/rest'));
  await ask(server, get('/arguments'));
  assert.equal((await ask(server, get('/bound'))).text, 'bound/bound');
  assert.equal((await ask(server, get('/default'))).text, '/default');
  assert.equal((await ask(server, get('/none'))).text, 'none');
  assert.equal((await ask(server, get('/one'))).text, 'one');
  assert.deepEqual(seen, [2, 2]);
});

test('functions of the program are called without a receiver', async (t) => {
  const receivers = [];
  const note = function () {
    receivers.push(this);
  };
  const server = serve(t, (app) => {
    app.post('/', function (res) {
      note.call(this);
      res.onData(function (_, isLast) {
        note.call(this);
        if (!isLast) return;
        res.cork(note);
        res.onAborted(note);
        res.onWritable(function () {
          note.call(this);
          res.close();
          return true;
        });
        while (res.write('x'.repeat(1_000_000)));
      });
    });
    app.get('/', (res, req) => {
      req.setYield(true);
    });
    app.any('/', function (res, req) {
      note.call(this);
      req.forEach(note);
      res.end();
    });
    app.listen('127.0.0.1', 0, note);
  });
  await ask(server, get('/'));
  const client = await server.connect();
  client.send(post('/', 'x'));
  await client.closed();
  assert.equal(receivers.length, 8);
  assert.deepEqual(new Set(receivers), new Set([undefined]));
});

test('without a match the answer is 404, and the connection goes on', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end('found')));
  const client = await server.connect();
  client.send(get('/missing') + get('/'));
  const answer = await client.response();
  assert.deepEqual([answer.status, answer.text], [404, 'Not Found']);
  assert.equal((await client.response()).text, 'found');
});

test('a catch-all replaces the 404', async (t) => {
  const server = serve(t, (app) => app.any('/*', (res) => res.writeStatus('418').end('mine')));
  assert.equal((await ask(server, get('/missing'))).status, 418);
});

test('a method that the path does not have is 404, or 405 with Allow if asked for', async (t) => {
  const configure = (app) => app.get('/', (res) => res.end()).put('/', (res) => res.end());
  const plain = serve(t, configure);
  const strict = serve(t, configure, { methodNotAllowed: true });
  const wire = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
  assert.equal((await ask(plain, wire)).status, 404);
  const answer = await ask(strict, wire);
  assert.equal(answer.status, 405);
  assert.deepEqual(answer.fields.allow.split(', ').sort(), ['GET', 'PUT']);
  assert.equal((await ask(strict, get('/missing'))).status, 404);
});

test('HEAD on a path with GET only is 404, or answered as GET if asked for', async (t) => {
  const configure = (app) => app.get('/', (res) => res.writeHeader('a', 'b').end('body'));
  const wire = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n';
  const plain = serve(t, configure);
  assert.equal((await ask(plain, wire, { isHead: true })).status, 404);
  const automatic = serve(t, configure, { automaticHead: true });
  const client = await automatic.connect();
  client.send(wire + get('/'));
  const answer = await client.response({ isHead: true });
  assert.deepEqual(
    [answer.status, answer.fields['content-length'], answer.fields.a],
    [200, '4', 'b'],
  );
  assert.equal((await client.response()).text, 'body');
});

test('close() ends all, is idempotent, and the app may listen again', async (t) => {
  let aborts = 0;
  const server = serve(t, (app) => {
    app.get('/', (res) => res.end('open'));
    app.get('/wait', (res) => res.onAborted(() => aborts++));
  });
  const [idle, waiting] = [await server.connect(), await server.connect()];
  idle.send(get('/'));
  await idle.response();
  waiting.send(get('/wait'));
  await eventually(() => server.app.stats().requests === 2, 'the requests');
  assert.equal(server.app.close().close(), server.app);
  assert.equal(aborts, 1);
  await idle.closed();
  await waiting.closed();
  assert.equal(named.us_socket_local_port(server.token), -1);
  server.app.get('/again', (res) => res.end('again'));
  let token;
  server.app.listen('127.0.0.1', 0, (result) => (token = result));
  const client = await Client.connect(t, named.us_socket_local_port(token));
  client.send(get('/again'));
  assert.equal((await client.response()).text, 'again');
});

test('closing one app leaves another one alone', async (t) => {
  const one = serve(t, (app) => app.get('/', (res) => res.end('one')));
  const two = serve(t, (app) => app.get('/', (res) => res.end('two')));
  const client = await two.connect();
  one.app.close();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'two');
});

test('stats() counts what the app did', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end('ok')));
  const client = await server.connect();
  client.send(get('/') + get('/') + get('/missing'));
  for (let count = 0; count < 3; count++) await client.response();
  const stats = server.app.stats();
  assert.deepEqual(
    [stats.connections, stats.accepted, stats.requests, stats.rejected, stats.aborted],
    [1, 1, 3, 0, 0],
  );
  for (const value of Object.values(stats)) assert.ok(Number.isSafeInteger(value) && value >= 0);
  client.send('nonsense\r\n\r\n');
  await client.response();
  await client.closed();
  await eventually(() => server.app.stats().connections === 0, 'the end of the connection');
  assert.equal(server.app.stats().rejected, 1);
});

test('methods refuse to be called on what is not an app', () => {
  const app = App();
  const stranger = Object.create(app);
  for (const value of [stranger, {}, null, undefined]) {
    for (const name of [...registrations, 'close', 'stats']) {
      assert.throws(() => app[name].call(value, '/', () => {}), TypeError);
    }
    assert.throws(() => app.listen.call(value, 0, () => {}), TypeError);
  }
  app.close();
});
