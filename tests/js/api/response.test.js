// HttpResponse: what its methods refuse, return and tell.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, get, post, serve } from '../helpers.js';

const wrongType = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
const outOfRange = { name: 'RangeError', code: 'ERR_OUT_OF_RANGE' };
const headSent = { code: 'ERR_MILLRACE_HEAD_SENT' };

test('a body that changes or is detached after end() was taken before', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      const body = new Uint8Array(100_000).fill(97);
      res.end(body);
      body.fill(98);
      structuredClone(body.buffer, { transfer: [body.buffer] });
    }),
  );
  assert.equal((await ask(server, get('/'))).text, 'a'.repeat(100_000));
});

test('a detached view is an empty body', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      const body = new Uint8Array(100);
      structuredClone(body.buffer, { transfer: [body.buffer] });
      res.end(body);
    }),
  );
  assert.equal((await ask(server, get('/'))).text, '');
});

test('wrong types are refused, and the response stays usable', async (t) => {
  const wrong = [5, null, true, {}, [], () => {}, Symbol('s'), 1n, Object('text')];
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      for (const value of wrong) {
        assert.throws(() => res.end(value), wrongType);
        assert.throws(() => res.write(value), wrongType);
        assert.throws(() => res.tryEnd(value, 1), wrongType);
        assert.throws(() => res.writeStatus(value), wrongType);
        assert.throws(() => res.writeHeader(value, 'x'), wrongType);
        assert.throws(() => res.writeHeader('x', value), wrongType);
        if (typeof value === 'function') continue;
        for (const name of ['onAborted', 'onData', 'onWritable', 'cork', 'collect']) {
          assert.throws(() => res[name](value), wrongType);
        }
      }
      assert.throws(() => res.write(), wrongType);
      assert.throws(() => res.writeStatus(), wrongType);
      assert.throws(() => res.writeHeader(), wrongType);
      for (const name of ['onAborted', 'onData', 'onWritable', 'cork', 'collect']) {
        assert.throws(() => res[name](), wrongType);
      }
      res.writeHeader('still', 'usable').end('yes');
    }),
  );
  const answer = await ask(server, get('/'));
  assert.deepEqual([answer.text, answer.fields.still], ['yes', 'usable']);
});

test('lengths that are none are refused, and the response stays usable', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      for (const value of [-1, 0.5, Number.NaN, Infinity, '5', null, 2 ** 53, true, 5n, {}]) {
        assert.throws(() => res.endWithoutBody(value), outOfRange);
        assert.throws(() => res.tryEnd('x', value), outOfRange);
      }
      res.end('yes');
    }),
  );
  assert.equal((await ask(server, get('/'))).text, 'yes');
});

test('statuses and fields that would split the response are refused', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      for (const status of [
        '',
        '20',
        '2000',
        'OK',
        '99 Low',
        '100 Continue',
        '101',
        '199',
        '200OK',
        '200 a\r\nX: 1',
        '200 a\nb',
        '200 a\0b',
        '200 a\x7f',
        ' 200 OK',
        '200\tOK',
      ]) {
        assert.throws(() => res.writeStatus(status), wrongType, JSON.stringify(status));
      }
      for (const name of ['', 'a b', 'a:', 'a\r\nb', 'a\0', 'caf\u00e9', '(a)', 'a\t']) {
        assert.throws(() => res.writeHeader(name, 'x'), wrongType, JSON.stringify(name));
      }
      for (const value of ['a\r\nb: c', 'a\nb', 'a\rb', 'a\0b', '\x01', 'a\x7f']) {
        assert.throws(() => res.writeHeader('x', value), wrongType, JSON.stringify(value));
      }
      for (const value of ['gzip', 'gzip, chunked', 'identity', '']) {
        assert.throws(() => res.writeHeader('Transfer-Encoding', value), wrongType);
      }
      res.end('whole');
    }),
  );
  const answer = await ask(server, get('/'));
  assert.deepEqual([answer.status, answer.text, answer.lines.length], [200, 'whole', 2]);
});

for (const [name, begin] of Object.entries({
  write: (res) => res.write('a'),
  beginWrite: (res) => res.beginWrite(),
  'a part of tryEnd': (res) => res.tryEnd('a', 2),
})) {
  test(`after ${name} the head is sent: status and fields are refused`, async (t) => {
    const server = serve(t, (app) =>
      app.get('/', (res) => {
        begin(res);
        assert.throws(() => res.writeHeader('X', '1'), headSent);
        assert.throws(() => res.writeStatus('201'), headSent);
        res.end('b');
      }),
    );
    const answer = await ask(server, get('/'));
    assert.equal(answer.status, 200);
    assert.equal(answer.fields.x, undefined);
    assert.ok(['ab', 'b'].includes(answer.text));
  });
}

test('tryEnd refuses more than was announced, and other totals', async (t) => {
  const mismatch = { code: 'ERR_MILLRACE_LENGTH_MISMATCH' };
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      assert.throws(() => res.tryEnd('toolong', 3), mismatch);
      res.tryEnd('abc', 6);
      assert.throws(() => res.tryEnd('defg', 6), mismatch);
      assert.throws(() => res.tryEnd('def', 7), mismatch);
      assert.throws(() => res.end('de'), mismatch);
      assert.throws(() => res.end('defg'), mismatch);
      assert.throws(() => res.endWithoutBody(), mismatch);
      assert.throws(() => res.write('def'), headSent);
      res.tryEnd('def', 6);
    }),
  );
  assert.equal((await ask(server, get('/'))).text, 'abcdef');
});

test('end(body, true) and endWithoutBody(length, true) end the connection', async (t) => {
  for (const answer of [
    (res) => res.end('x', true),
    (res) => res.endWithoutBody(undefined, true),
    (res) => res.endWithoutBody(0, true),
    (res) => res.writeHeader('Connection', 'close').end('x'),
  ]) {
    const server = serve(t, (app) => app.get('/', (res) => void answer(res)));
    const client = await server.connect();
    client.send(get('/') + get('/'));
    const given = await client.response();
    assert.equal(given.fields.connection, 'close');
    assert.equal(await client.rest(), '');
  }
});

test('end(body, false) and falsy values keep the connection', async (t) => {
  for (const value of [false, undefined, null, 0, '']) {
    const server = serve(t, (app) => app.get('/', (res) => res.end('x', value)));
    const client = await server.connect();
    client.send(get('/') + get('/'));
    assert.equal((await client.response()).fields.connection, undefined);
    assert.equal((await client.response()).text, 'x');
  }
});

test('all methods return the response, but for those that tell something', async (t) => {
  const server = serve(t, (app) =>
    app.post('/', (res) => {
      assert.equal(res.writeStatus('200'), res);
      assert.equal(res.writeHeader('a', 'b'), res);
      assert.equal(
        res.onAborted(() => {}),
        res,
      );
      assert.equal(
        res.onData(() => {}),
        res,
      );
      assert.equal(
        res.onWritable(() => true),
        res,
      );
      assert.equal(
        res.cork(() => 5),
        res,
      );
      assert.equal(
        res.collect(() => 5),
        res,
      );
      assert.equal(res.pause(), res);
      assert.equal(res.resume(), res);
      assert.equal(res.getWriteOffset(), 0);
      assert.equal(res.getBufferedAmount(), 0);
      assert.equal(res.beginWrite(), res);
      assert.equal(res.end(), res);
    }),
  );
  assert.equal((await ask(server, post('/', 'x'))).status, 200);
});

test('the address and the port of the peer', async (t) => {
  let seen;
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      seen = {
        bytes: [...new Uint8Array(res.getRemoteAddress())],
        text: Buffer.from(res.getRemoteAddressAsText()).toString(),
        port: res.getRemotePort(),
        proxied: res.getProxiedRemoteAddress().byteLength,
        proxiedText: res.getProxiedRemoteAddressAsText().byteLength,
        proxiedPort: res.getProxiedRemotePort(),
      };
      res.end();
    }),
  );
  const client = await server.connect();
  client.send(get('/'));
  await client.response();
  assert.deepEqual(seen, {
    bytes: [127, 0, 0, 1],
    text: '127.0.0.1',
    port: client.socket.localPort,
    proxied: 0,
    proxiedText: 0,
    proxiedPort: 0,
  });
});

test('properties of the program on a response are kept', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      res.user = 'Ada';
      res.onAborted(() => {});
      setImmediate(() => res.end(`${res.user} ${Object.keys(res)}`));
    }),
  );
  assert.equal((await ask(server, get('/'))).text, 'Ada user');
});

test('methods refuse to be called on what is not a response', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      for (const value of [Object.create(res), {}, null, undefined]) {
        for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(res))) {
          if (name !== 'constructor') assert.throws(() => res[name].call(value, 'x'), TypeError);
        }
      }
      const { end } = res;
      assert.throws(() => end('x'), TypeError);
      res.end('own');
    }),
  );
  assert.equal((await ask(server, get('/'))).text, 'own');
});

test('heads of all shapes, many times, more than are remembered', async (t) => {
  let count = 0;
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      count++;
      res.writeHeader('fixed', 'value');
      res.writeHeader('counted', String(count));
      if (count % 3 === 0) res.writeStatus(`2${String(count % 90).padStart(2, '0')} Counted`);
      if (count % 5 === 0) res.writeHeader(`n-${count}`, 'l'.repeat(count % 400));
      res.end(String(count));
    }),
  );
  const client = await server.connect();
  for (let round = 1; round <= 3000; round++) {
    client.send(get('/'));
    const answer = await client.response();
    assert.equal(answer.fields.counted, String(round));
    assert.equal(answer.fields.fixed, 'value');
    const status = round % 3 === 0 ? Number(`2${String(round % 90).padStart(2, '0')}`) : 200;
    assert.equal(answer.status, status);
    if (round % 5 === 0) assert.equal(answer.fields[`n-${round}`].length, round % 400);
  }
});
