// What is refused on the wire and what is taken, end to end: bytes in, handlers, bytes out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, get, serve, turns } from '../helpers.js';

/** A server that answers with method, path and body of each request; counts what it was given. */
function echo(t, options) {
  const seen = { requests: [], bodies: [], aborts: 0 };
  const server = serve(
    t,
    (app) => {
      app.any('/*', (res, req) => {
        const line = `${req.getCaseSensitiveMethod()} ${req.getUrl()}`;
        seen.requests.push(line);
        let body = '';
        res.onAborted(() => seen.aborts++);
        res.onData((chunk, isLast) => {
          body += Buffer.from(chunk).toString('latin1');
          if (!isLast) return;
          seen.bodies.push(body);
          res.end(`${line} ${body}`);
        });
      });
      app.connect('/*', (res, req) => res.end(req.getUrl()));
    },
    options,
  );
  return { server, seen };
}

const next = get('/next');
const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
const sized = (length, body = '') =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`;
const big = (bytes) => 'v'.repeat(bytes);

/** Refused before any handler: what is sent, and the status of the answer. */
const refusedHeads = {
  'a folded field': [get('/', 'X-A: one\r\n two\r\n'), 400],
  'a folded field with a tab': [get('/', 'X-A: one\r\n\ttwo\r\n'), 400],
  'a space before the colon': [
    `POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nhello`,
    400,
  ],
  'a tab before the colon': [`POST / HTTP/1.1\r\nHost: x\r\nContent-Length\t: 5\r\n\r\nhello`, 400],
  'lines that end in LF only': ['GET / HTTP/1.1\nHost: x\n\n', 400],
  'a field line that ends in LF only': ['GET / HTTP/1.1\r\nHost: x\nX: y\r\n\r\n', 400],
  'NUL in a value': [get('/', 'X-A: a\0b\r\n'), 400],
  'a control byte in a value': [get('/', 'X-A: a\x01b\r\n'), 400],
  'DEL in a value': [get('/', 'X-A: a\x7fb\r\n'), 400],
  'a bare CR in a value': [get('/', 'X-A: a\rb\r\n'), 400],
  'an empty field name': [
    `POST / HTTP/1.1\r\nHost: x\r\n: 1\r\nContent-Length: 5\r\n\r\nhello`,
    400,
  ],
  'a field line without a colon': [get('/', 'nonsense\r\n'), 400],
  'two lengths that differ': [
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 10\r\n\r\nhelloworld',
    400,
  ],
  'an empty length before a real one': [
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \r\nContent-Length: 5\r\n\r\nhello',
    400,
  ],
  'an empty length': ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n', 400],
  'a negative length': [sized('-5', 'hello'), 400],
  'a length with a sign': [sized('+5', 'hello'), 400],
  'a length in hexadecimal': [sized('0x5', 'hello'), 400],
  'a length with a space inside': [sized('1 0', 'hello'), 400],
  'a length as a list': [sized('5, 5', 'hello'), 400],
  'a length of 2 to the 64th': [sized('18446744073709551616'), 400],
  'a length and chunks': [
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n',
    400,
  ],
  'chunks and a length': [
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n',
    400,
  ],
  'an empty transfer coding and a length': [
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\nContent-Length: 5\r\n\r\nhello',
    400,
  ],
  'Transfer-Encoding: identity': [
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n',
    400,
  ],
  'Transfer-Encoding: gzip, chunked': [
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  'chunks in HTTP/1.0': [
    'POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  'no host': ['GET / HTTP/1.1\r\n\r\n', 400],
  'two hosts': ['GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n', 400],
  'a host that is none': ['GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
  'a fragment in the target': [get('/a#f'), 400],
  'DEL in the target': [get('/a\x7fb'), 400],
  'a control byte in the target': [get('/a\x01b'), 400],
  'an authority as target of GET': ['GET x:80 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  'an asterisk as target of GET': ['GET * HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  'a target without a slash': ['GET path HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  'two spaces in the request line': ['GET  / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  'no version': ['GET /\r\nHost: x\r\n\r\n', 400],
  'a version that is none': ['GET / HTTX/1.1\r\nHost: x\r\n\r\n', 400],
  'HTTP/2.0': ['GET / HTTP/2.0\r\nHost: x\r\n\r\n', 505],
  'a method that is no token': ['G(T / HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  'a head over the limit': [get('/', `X-A: ${big(20_000)}\r\n`), 431],
  'more fields than the limit': [get('/', 'a: b\r\n'.repeat(100)), 431],
  'a target over the limit': [get(`/${big(20_000)}`), 414],
};

for (const [name, [wire, status]] of Object.entries(refusedHeads)) {
  test(`refused: ${name}`, async (t) => {
    const { server, seen } = echo(t);
    const client = await server.connect();
    client.send(wire + next);
    const answer = await client.response();
    assert.equal(answer.status, status);
    assert.equal(answer.fields.connection, 'close');
    assert.equal(await client.rest(), '');
    assert.deepEqual(seen.requests, []);
    assert.equal(server.app.stats().rejected, 1);
  });
}

/** Bodies that are refused: the request is aborted, and nothing behind it is handled. */
const refusedBodies = {
  'a chunk without a size': '\r\n\r\n',
  'an extension without a size': ';ext\r\n\r\n',
  'a size that is not hexadecimal': 'G\r\nhello world 1234\r\n0\r\n\r\n',
  'a size that begins with an at sign': '@5\r\nhello\r\n0\r\n\r\n',
  'a size with 0x': '0x5\r\nhello\r\n0\r\n\r\n',
  'a negative size': '-5\r\nhello\r\n0\r\n\r\n',
  'a size with an underscore': '0_5\r\nhello\r\n0\r\n\r\n',
  'a size behind a space': ' 5\r\nhello\r\n0\r\n\r\n',
  'a size of 2 to the 64th': '10000000000000000\r\nhello',
  'data that does not end in CR LF': '5\r\nhelloXX0\r\n\r\n',
  'a size line that ends in LF only': '5\nhello\r\n0\r\n\r\n',
  'data that end in LF only': '5\r\nhello\n0\r\n\r\n',
  'LF inside an extension': '5;a\nb\r\nhello\r\n0\r\n\r\n',
  'an extension without end': `5;a=${big(1_000_000)}`,
  'trailers over the limit': `5\r\nhello\r\n0\r\nX-T: ${big(20_000)}\r\n\r\n`,
  'a trailer that is no field': '5\r\nhello\r\n0\r\nno field\r\n\r\n',
};

for (const [name, body] of Object.entries(refusedBodies)) {
  test(`refused body: ${name}`, async (t) => {
    const { server, seen } = echo(t);
    const client = await server.connect();
    client.send(chunked + body + next);
    const answer = await client.response();
    assert.ok(answer.status === 400 || answer.status === 431, answer.status);
    assert.equal(answer.fields.connection, 'close');
    assert.equal(await client.rest(), '');
    await turns();
    assert.deepEqual(seen.requests.slice(1), []);
    assert.deepEqual(seen.bodies, []);
    assert.equal(seen.aborts, seen.requests.length);
  });
}

/** Taken: what is sent, and the bodies of the answers. */
const taken = {
  'a body with a length': [sized(5, 'hello'), ['POST / hello']],
  'chunks in lower and upper case': [
    `${chunked}a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n`,
    ['POST / 01234567890123456789'],
  ],
  'a size with zeros before it': [`${chunked}0005\r\nhello\r\n000\r\n\r\n`, ['POST / hello']],
  'extensions, which are ignored': [
    `${chunked}5;a=b;c="d e"\r\nhello\r\n0;last\r\n\r\n`,
    ['POST / hello'],
  ],
  'trailers, which are dropped': [
    `${chunked}5\r\nhello\r\n0\r\nX-T: 1\r\nX-U: 2\r\n\r\n`,
    ['POST / hello'],
  ],
  'a transfer coding in mixed case': [
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ChunkeD\r\n\r\n2\r\nhi\r\n0\r\n\r\n',
    ['POST / hi'],
  ],
  'a higher minor version': ['GET / HTTP/1.2\r\nHost: x\r\n\r\n', ['GET / ']],
  'empty lines before a request': [`\r\n\r\n${get('/')}`, ['GET / ']],
  'an empty line behind a body': [
    `${sized(5, 'hello')}\r\n${get('/b')}`,
    ['POST / hello', 'GET /b '],
  ],
  'an absolute target': ['GET http://x/path HTTP/1.1\r\nHost: x\r\n\r\n', ['GET /path ']],
  'a head just below the limit': [get('/', `X-A: ${big(16_000)}\r\n`), ['GET / ']],
  'as many fields as the limit': [get('/', 'a: b\r\n'.repeat(99)), ['GET / ']],
  'a long target': [get(`/${big(10_000)}`), [`GET /${big(10_000)} `]],
  'an unknown method': ['BREW / HTTP/1.1\r\nHost: x\r\n\r\n', ['BREW / ']],
  'a GET with a body': [
    'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody',
    ['GET / body'],
  ],
  'a length of zero': [sized(0), ['POST / ']],
};

for (const [name, [wire, texts]] of Object.entries(taken)) {
  test(`taken: ${name}`, async (t) => {
    const { server, seen } = echo(t);
    const client = await server.connect();
    client.send(wire + next);
    for (const text of [...texts, 'GET /next ']) {
      const answer = await client.response();
      assert.deepEqual([answer.status, answer.text], [200, text]);
    }
    assert.equal(seen.aborts, 0);
  });

  if (wire.length > 1000) continue;
  test(`taken, one byte in a write: ${name}`, async (t) => {
    const { server } = echo(t);
    const client = await server.connect();
    for (const byte of wire + next) {
      client.send(byte);
      await turns(1);
    }
    for (const text of [...texts, 'GET /next ']) assert.equal((await client.response()).text, text);
  });
}

test('the same length twice is refused or taken once, never used twice', async (t) => {
  const { server, seen } = echo(t);
  const client = await server.connect();
  const wire = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello';
  client.send(wire + next);
  const answer = await client.response();
  if (answer.status === 400) assert.deepEqual(seen.requests, []);
  else assert.equal(answer.text, 'POST / hello');
});

test('bytes beyond ASCII in the target are refused, or kept', async (t) => {
  const { server } = echo(t);
  const client = await server.connect();
  client.send(get('/\xc3\xa9'));
  const answer = await client.response();
  if (answer.status !== 400) assert.equal(answer.text, 'GET /\xc3\xa9 ');
});

test('OPTIONS of the asterisk reaches a route for it, and is 404 without', async (t) => {
  const { server } = echo(t);
  const client = await server.connect();
  client.send('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n');
  const answer = await client.response();
  assert.ok([200, 204, 404].includes(answer.status), answer.status);
});

test('CONNECT reaches its handler', async (t) => {
  const { server } = echo(t);
  const client = await server.connect();
  client.send('CONNECT example.com:80 HTTP/1.1\r\n');
  await turns();
  client.send('Host: example.com:80\r\n\r\n');
  await client.until(() => client.text.includes('\r\n\r\n'), 'an answer');
  assert.match(client.text, /^HTTP\/1\.1 (200|404) /);
});

test('a head in many reads is handled when it is complete', async (t) => {
  const { server, seen } = echo(t);
  const client = await server.connect();
  for (const part of ['GET', ' /parts HTT', 'P/1.1\r', '\nHo', 'st: x\r\nX: ', 'y\r\n\r']) {
    client.send(part);
    await turns();
    assert.deepEqual(seen.requests, []);
  }
  client.send('\n');
  assert.equal((await client.response()).text, 'GET /parts ');
});

test('limits of the head can be set, smaller and larger', async (t) => {
  for (const [limit, bytes, status] of [
    [1000, 900, 200],
    [1000, 1100, 431],
    [200_000, 190_000, 200],
    [200_000, 210_000, 431],
  ]) {
    const { server } = echo(t, { limits: { headBytesMax: limit } });
    const client = await server.connect();
    client.send(get('/', `a: ${big(bytes - 40)}\r\n`));
    assert.equal((await client.response()).status, status, `${bytes} of ${limit}`);
    client.socket.destroy();
  }
  const { server } = echo(t, { limits: { fieldsMax: 3 } });
  const client = await server.connect();
  client.send(get('/', 'a: 1\r\nb: 2\r\n') + get('/', 'a: 1\r\nb: 2\r\nc: 3\r\n'));
  assert.equal((await client.response()).status, 200);
  assert.equal((await client.response()).status, 431);
});

test('a refused request behind an unanswered one is answered in its place', async (t) => {
  let pending;
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      pending = res;
      res.onAborted(() => {});
    });
  });
  const client = await server.connect();
  client.send(`${get('/')}nonsense\r\n\r\n`);
  await eventually(() => server.app.stats().rejected === 1, 'the refusal');
  await turns();
  assert.equal(client.receivedBytes, 0);
  pending.end('first');
  assert.equal((await client.response()).text, 'first');
  assert.equal((await client.response()).status, 400);
  assert.equal(await client.rest(), '');
});
