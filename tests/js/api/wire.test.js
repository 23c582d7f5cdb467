// HttpResponse: the exact bytes of answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, get, serve, undated } from '../helpers.js';

const request = get('/', 'Connection: close\r\n');

/** The bytes of the answer that `answer` gives, Date made constant. */
async function wireOf(t, answer, wire = request) {
  const server = serve(t, (app) => app.any('/*', answer));
  const client = await server.connect();
  client.send(wire);
  return undated(await client.rest());
}

const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\nDate: now\r\n';

const exact = {
  'end() without a body': [(res) => res.end(), `${head}Content-Length: 0\r\n\r\n`],
  'end(undefined)': [(res) => res.end(undefined), `${head}Content-Length: 0\r\n\r\n`],
  'end(text)': [(res) => res.end('hello'), `${head}Content-Length: 5\r\n\r\nhello`],
  'end(text) beyond ASCII': [
    (res) => res.end('h\u00e9\u4e2d'),
    `${head}Content-Length: 6\r\n\r\nh\xc3\xa9\xe4\xb8\xad`,
  ],
  'end(text) with half a surrogate pair': [
    (res) => res.end('a\ud800b'),
    `${head}Content-Length: 5\r\n\r\na\xef\xbf\xbdb`,
  ],
  'status and fields in the order of the calls': [
    (res) => res.writeStatus('404 Gone Fishing').writeHeader('B', '1').writeHeader('a', '2').end(),
    'HTTP/1.1 404 Gone Fishing\r\nB: 1\r\na: 2\r\nConnection: close\r\nDate: now\r\n' +
      'Content-Length: 0\r\n\r\n',
  ],
  'a status of three digits': [
    (res) => res.writeStatus('503').end(),
    'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nDate: now\r\n' +
      'Content-Length: 0\r\n\r\n',
  ],
  'a status that has no name': [
    (res) => res.writeStatus('299').end(),
    'HTTP/1.1 299 \r\nConnection: close\r\nDate: now\r\nContent-Length: 0\r\n\r\n',
  ],
  'the first of two statuses': [
    (res) => res.writeStatus('201 One').writeStatus('202 Two').end(),
    'HTTP/1.1 201 One\r\nConnection: close\r\nDate: now\r\nContent-Length: 0\r\n\r\n',
  ],
  'a status behind a field': [
    (res) => res.writeHeader('a', 'b').writeStatus('201').end(),
    'HTTP/1.1 201 Created\r\na: b\r\nConnection: close\r\nDate: now\r\nContent-Length: 0\r\n\r\n',
  ],
  'a field twice': [
    (res) => res.writeHeader('Set-Cookie', 'a=1').writeHeader('Set-Cookie', 'b=2').end(),
    'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nConnection: close\r\nDate: now\r\n' +
      'Content-Length: 0\r\n\r\n',
  ],
  'a field with an empty value, and one beyond ASCII': [
    (res) => res.writeHeader('a', '').writeHeader('b', '\u00e9\t!').end(),
    'HTTP/1.1 200 OK\r\na: \r\nb: \xc3\xa9\t!\r\nConnection: close\r\nDate: now\r\n' +
      'Content-Length: 0\r\n\r\n',
  ],
  'a Date of the program': [
    (res) => res.writeHeader('Date', 'yesterday').end(),
    'HTTP/1.1 200 OK\r\nDate: yesterday\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  ],
  'a Connection field of the program': [
    (res) => res.writeHeader('connection', 'close').end('x'),
    'HTTP/1.1 200 OK\r\nconnection: close\r\nDate: now\r\nContent-Length: 1\r\n\r\nx',
  ],
  'a Content-Length of the program, which is replaced by the true one': [
    (res) => res.writeHeader('Content-Length', '36').end('four'),
    `${head}Content-Length: 4\r\n\r\nfour`,
  ],
  'a Transfer-Encoding of the program, which has no effect': [
    (res) => res.writeHeader('Transfer-Encoding', 'chunked').end('four'),
    `${head}Content-Length: 4\r\n\r\nfour`,
  ],
  'write and end': [
    (res) => {
      assert.equal(res.write('one'), true);
      res.write(Buffer.from('eleven char'));
      res.end('last');
    },
    `${head}Transfer-Encoding: chunked\r\n\r\n` +
      '3\r\none\r\nb\r\neleven char\r\n4\r\nlast\r\n0\r\n\r\n',
  ],
  'an empty write, which changes nothing': [
    (res) => {
      assert.equal(res.write(''), true);
      res.writeStatus('201').end('x');
    },
    'HTTP/1.1 201 Created\r\nConnection: close\r\nDate: now\r\nContent-Length: 1\r\n\r\nx',
  ],
  'an empty write in the midst of a body': [
    (res) => {
      res.write('a');
      res.write('');
      res.end();
    },
    `${head}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
  ],
  'beginWrite, twice': [
    (res) => {
      res.writeHeader('a', 'b').beginWrite().beginWrite();
      res.end('x');
    },
    'HTTP/1.1 200 OK\r\na: b\r\nConnection: close\r\nDate: now\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
  ],
  'endWithoutBody()': [(res) => res.endWithoutBody(), `${head}Content-Length: 0\r\n\r\n`],
  'endWithoutBody(0)': [(res) => res.endWithoutBody(0), `${head}Content-Length: 0\r\n\r\n`],
  'endWithoutBody(length), which ends the connection': [
    (res) => res.endWithoutBody(1234),
    `${head}Content-Length: 1234\r\n\r\n`,
  ],
  'endWithoutBody() with a Content-Length of the program': [
    (res) => res.writeHeader('content-length', '77').endWithoutBody(),
    `${head}Content-Length: 77\r\n\r\n`,
  ],
  'endWithoutBody() behind a write': [
    (res) => {
      res.write('a');
      res.endWithoutBody();
    },
    `${head}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
  ],
  'tryEnd of the whole': [
    (res) => assert.deepEqual(res.tryEnd('whole', 5), [true, true]),
    `${head}Content-Length: 5\r\n\r\nwhole`,
  ],
  'tryEnd without a total': [
    (res) => assert.deepEqual(res.tryEnd('whole'), [true, true]),
    `${head}Content-Length: 5\r\n\r\nwhole`,
  ],
  'tryEnd in pieces': [
    (res) => {
      assert.deepEqual(res.tryEnd('one', 6), [true, false]);
      assert.equal(res.getWriteOffset(), 3);
      assert.deepEqual(res.tryEnd('two', 6), [true, true]);
    },
    `${head}Content-Length: 6\r\n\r\nonetwo`,
  ],
  'tryEnd in part, end for the rest': [
    (res) => {
      res.tryEnd('one', 6);
      res.end('two');
    },
    `${head}Content-Length: 6\r\n\r\nonetwo`,
  ],
  'tryEnd of nothing': [
    (res) => assert.deepEqual(res.tryEnd('', 0), [true, true]),
    `${head}Content-Length: 0\r\n\r\n`,
  ],
  'tryEnd that begins with nothing': [
    (res) => {
      assert.deepEqual(res.tryEnd('', 5), [true, false]);
      assert.deepEqual(res.tryEnd('whole', 5), [true, true]);
    },
    `${head}Content-Length: 5\r\n\r\nwhole`,
  ],
  'tryEnd behind a write': [
    (res) => {
      res.write('a');
      assert.deepEqual(res.tryEnd('b', 1), [true, true]);
    },
    `${head}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n`,
  ],
  '204, which has no body and no length': [
    (res) => res.writeStatus('204').end('dropped'),
    'HTTP/1.1 204 No Content\r\nConnection: close\r\nDate: now\r\n\r\n',
  ],
  '304, which has no body': [
    (res) => res.writeStatus('304 Not Modified').end('dropped'),
    'HTTP/1.1 304 Not Modified\r\nConnection: close\r\nDate: now\r\n\r\n',
  ],
  'writes with 204': [
    (res) => {
      res.writeStatus('204');
      res.write('dropped');
      res.end('dropped');
    },
    'HTTP/1.1 204 No Content\r\nConnection: close\r\nDate: now\r\n\r\n',
  ],
  'tryEnd with 304': [
    (res) => {
      res.writeStatus('304');
      assert.deepEqual(res.tryEnd('dropped', 7), [true, true]);
    },
    'HTTP/1.1 304 Not Modified\r\nConnection: close\r\nDate: now\r\nContent-Length: 7\r\n\r\n',
  ],
};

for (const [name, [answer, expected]] of Object.entries(exact)) {
  test(`on the wire: ${name}`, async (t) => {
    assert.equal(await wireOf(t, (res) => void answer(res)), expected);
  });

  test(`on the wire, given later: ${name}`, async (t) => {
    const later = (res) => {
      res.onAborted(() => {});
      setImmediate(() => void answer(res));
    };
    assert.equal(await wireOf(t, later), expected);
  });
}

const bodiless = {
  end: (res) => res.end('12345'),
  'a long end': (res) => res.end('1'.repeat(30_000)),
  'write and end': (res) => {
    res.write('123');
    res.end('45');
  },
  beginWrite: (res) => res.beginWrite().end('12345'),
  tryEnd: (res) => res.tryEnd('12345', 5),
  'tryEnd of a part': (res) => res.tryEnd('1', 5),
  endWithoutBody: (res) => res.endWithoutBody(5),
};

for (const [name, answer] of Object.entries(bodiless)) {
  test(`HEAD has a head and no byte of a body: ${name}`, async (t) => {
    const server = serve(t, (app) => app.head('/', (res) => void answer(res)));
    const client = await server.connect();
    client.send('HEAD / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
    for (let count = 0; count < 2; count++) {
      const { fields, status } = await client.response({ isHead: true });
      assert.equal(status, 200);
      const framing = fields['content-length'] ?? fields['transfer-encoding'];
      assert.ok(['5', '30000', 'chunked'].includes(framing), framing);
    }
    client.send('HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const text = await client.rest();
    assert.equal(text.indexOf('\r\n\r\n'), text.length - 4);
  });
}

test('2xx to CONNECT has no length; it reaches connect() with the authority as path', async (t) => {
  const server = serve(t, (app) => {
    app.connect('/*', (res, req) => res.end(req.getUrl()));
    app.any('/*', (res, req) => res.writeHeader('target', req.getUrl()).end());
  });
  const client = await server.connect();
  client.send('CONNECT example.com:80 HTTP/1.1\r\nHost: example.com:80\r\n\r\n');
  const text = undated(await client.rest());
  assert.doesNotMatch(text, /content-length|transfer-encoding/i);
});

test('the bytes of every kind of view are sent, and only they', async (t) => {
  const bytes = new Uint8Array(32);
  bytes.set(Buffer.from('................0123456789abcdef'));
  const shared = new SharedArrayBuffer(32);
  new Uint8Array(shared).set(bytes);
  const bodies = [bytes.buffer.slice(16), shared.slice(16)];
  for (const buffer of [bytes.buffer, shared]) {
    for (const [View, count] of [
      [Uint8Array, 16],
      [Int8Array, 16],
      [Uint8ClampedArray, 16],
      [Uint16Array, 8],
      [Int16Array, 8],
      [Uint32Array, 4],
      [Int32Array, 4],
      [Float32Array, 4],
      [Float64Array, 2],
      [BigInt64Array, 2],
      [BigUint64Array, 2],
      [DataView, 16],
    ]) {
      bodies.push(new View(buffer, 16, count));
    }
  }
  bodies.push(Buffer.from(bytes.buffer, 16, 16));
  for (const body of bodies) {
    const server = serve(t, (app) => app.get('/', (res) => res.end(body)));
    assert.equal((await ask(server, get('/'))).text, '0123456789abcdef');
    server.app.close();
  }
});
