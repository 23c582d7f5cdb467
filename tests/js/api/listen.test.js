// app.listen() in all its forms, and the functions of listen sockets.

import assert from 'node:assert/strict';
import net from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import {
  App,
  LIBUS_LISTEN_DEFAULT,
  LIBUS_LISTEN_EXCLUSIVE_PORT,
  LIBUS_LISTEN_SHARED_PORT,
  us_listen_socket_close,
  us_socket_local_port,
} from 'millrace';
import { Client, Program, eventually, get, serve, turns } from '../helpers.js';

const wrongType = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
const outOfRange = { name: 'RangeError', code: 'ERR_OUT_OF_RANGE' };

function appOf(t, text = 'ok') {
  const app = App().get('/', (res) => res.end(text));
  t.after(() => app.close());
  return app;
}

/** Listens; gives the token, or false. */
function listen(app, ...values) {
  const results = [];
  assert.equal(
    app.listen(...values, (result) => results.push(result)),
    app,
  );
  assert.equal(results.length, 1, 'the callback runs before listen returns');
  return results[0];
}

async function answerOf(t, token, host = '127.0.0.1') {
  const client = await Client.connect(t, us_socket_local_port(token), { host });
  client.send(get('/'));
  const answer = await client.response();
  client.socket.destroy();
  return answer.text;
}

test('listen refuses wrong arguments, and calls nothing', (t) => {
  const app = appOf(t);
  const never = () => assert.fail('called');
  for (const values of [
    [],
    [0],
    [never],
    [0, undefined],
    [0, 'x'],
    [undefined, never],
    [null, never],
    ['8080', never],
    [true, never],
    [0, 0, 0, never],
    ['127.0.0.1', '0', never],
    ['127.0.0.1', 0, '0', never],
    ['127.0.0.1', 0, 0, 0, never],
    [5, 0, 0, never],
    [{}, 0, never],
    [0, 3, never],
    [0, -1, never],
    [0, 1.5, never],
    [0, null, never],
    [0, true, never],
  ]) {
    assert.throws(() => app.listen(...values), wrongType, JSON.stringify(values.map(String)));
  }
});

test('listen refuses a port out of range', (t) => {
  const app = appOf(t);
  for (const port of [-1, 65536, 70_000, Number.NaN, Infinity, -Infinity, 0.5, 80.5, 2 ** 40]) {
    assert.throws(() => app.listen(port, () => assert.fail('called')), outOfRange);
    assert.throws(() => app.listen('127.0.0.1', port, () => assert.fail('called')), outOfRange);
  }
});

test('listen takes a port, with and without a host and options', async (t) => {
  const app = appOf(t);
  for (const options of [
    [],
    [LIBUS_LISTEN_DEFAULT],
    [LIBUS_LISTEN_EXCLUSIVE_PORT],
    [LIBUS_LISTEN_SHARED_PORT],
    [undefined],
  ]) {
    for (const host of [[], ['127.0.0.1'], ['localhost'], [''], [Buffer.from('127.0.0.1')]]) {
      const token = listen(app, ...host, 0, ...options);
      assert.ok(token);
      assert.ok(us_socket_local_port(token) > 0);
    }
  }
});

test('without a host it listens on all interfaces; IPv4 peers show up in IPv6 form', async (t) => {
  const app = App();
  t.after(() => app.close());
  app.get('/', (res) => {
    const text = Buffer.from(res.getRemoteAddressAsText()).toString();
    res.end(`${res.getRemoteAddress().byteLength} ${text}`);
  });
  const token = listen(app, 0);
  assert.match(await answerOf(t, token), /^16 (0000:){5}ffff:7f00:0001$/);
  assert.equal(await answerOf(t, token, '::1'), '16 0000:0000:0000:0000:0000:0000:0000:0001');
});

test('a host that cannot be bound to gives false', (t) => {
  const app = appOf(t);
  for (const host of ['192.0.2.1', 'no such host', 'host.invalid', '999.1.1.1', '2001:db8::1']) {
    assert.equal(listen(app, host, 0), false);
  }
});

test('a port is not shared unless all its listeners ask for it', async (t) => {
  const [one, two] = [appOf(t, 'one'), appOf(t, 'two')];
  for (const first of [LIBUS_LISTEN_DEFAULT, LIBUS_LISTEN_EXCLUSIVE_PORT]) {
    const token = listen(one, '127.0.0.1', 0, first);
    const port = us_socket_local_port(token);
    for (const options of [0, 1, 2]) {
      assert.equal(listen(two, '127.0.0.1', port, options), false);
      assert.equal(listen(one, '127.0.0.1', port, options), false);
    }
    assert.equal(await answerOf(t, token), 'one');
    us_listen_socket_close(token);
  }
});

test('listeners that all ask for a shared port share it', async (t) => {
  const [one, two] = [appOf(t, 'one'), appOf(t, 'two')];
  const token = listen(one, '127.0.0.1', 0, LIBUS_LISTEN_SHARED_PORT);
  const port = us_socket_local_port(token);
  const other = listen(two, '127.0.0.1', port, LIBUS_LISTEN_SHARED_PORT);
  assert.ok(other);
  assert.equal(listen(two, '127.0.0.1', port, LIBUS_LISTEN_DEFAULT), false);
  const seen = new Set();
  await eventually(async () => {
    seen.add(await answerOf(t, token));
    return seen.size === 2;
  }, 'an answer of both apps');
  us_listen_socket_close(token);
  await turns();
  for (let round = 0; round < 10; round++) assert.equal(await answerOf(t, other), 'two');
});

test('a port is shared between processes in the same way', async (t) => {
  const app = appOf(t, 'here');
  const token = listen(app, '127.0.0.1', 0, LIBUS_LISTEN_SHARED_PORT);
  const port = us_socket_local_port(token);
  const program = new Program(
    t,
    `const app = App().get('/', (res) => res.end('there'));
    for (const options of [0, 1, 2]) {
      app.listen('127.0.0.1', ${port}, options, (token) => tell(options + ' ' + Boolean(token)));
    }`,
  );
  await program.told(/0 false\n1 false\n2 true\n/);
  const seen = new Set();
  await eventually(async () => {
    seen.add(await answerOf(t, token));
    return seen.size === 2;
  }, 'an answer of both processes');
  assert.deepEqual([...seen].sort(), ['here', 'there']);
});

test('a port that another program holds gives false, and is free after its end', async (t) => {
  const holder = net.createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address();
  const app = appOf(t);
  assert.equal(listen(app, '127.0.0.1', port), false);
  holder.close();
  await once(holder, 'close');
  const token = listen(app, '127.0.0.1', port);
  assert.equal(us_socket_local_port(token), port);
  assert.equal(await answerOf(t, token), 'ok');
});

test('the port can be listened on again at once after app.close()', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end('ok')));
  const client = await server.connect();
  client.send(get('/'));
  await client.response();
  server.app.close();
  const token = listen(server.app, '127.0.0.1', server.port);
  assert.equal(us_socket_local_port(token), server.port);
  assert.equal(await answerOf(t, token), 'ok');
});

test('several listeners serve one app', async (t) => {
  const app = appOf(t);
  const tokens = [listen(app, '127.0.0.1', 0), listen(app, '127.0.0.1', 0), listen(app, 0)];
  for (const token of tokens) assert.equal(await answerOf(t, token), 'ok');
  us_listen_socket_close(tokens[0]);
  for (const token of tokens.slice(1)) assert.equal(await answerOf(t, token), 'ok');
});

test('the functions of listen sockets refuse what is none', () => {
  for (const value of [null, undefined, false, {}, 5, 'x', [], () => {}, App()]) {
    assert.throws(() => us_listen_socket_close(value), wrongType);
    assert.throws(() => us_socket_local_port(value), wrongType);
  }
});

test('closing a listen socket stops accepting and answers open connections', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end('ok')));
  const client = await server.connect();
  client.send(get('/'));
  await client.response();
  assert.equal(us_listen_socket_close(server.token), undefined);
  us_listen_socket_close(server.token);
  assert.equal(us_socket_local_port(server.token), -1);
  const socket = net.connect(server.port, '127.0.0.1');
  const [error] = await once(socket, 'error');
  assert.equal(error.code, 'ECONNREFUSED');
  client.send(get('/'));
  assert.equal((await client.response()).text, 'ok');
});

test('a token of a closed app is closed, and stays so when the app listens again', (t) => {
  const app = appOf(t);
  const token = listen(app, '127.0.0.1', 0);
  app.close();
  assert.equal(us_socket_local_port(token), -1);
  const second = listen(app, '127.0.0.1', 0);
  assert.equal(us_socket_local_port(token), -1);
  us_listen_socket_close(token);
  assert.ok(us_socket_local_port(second) > 0);
});
