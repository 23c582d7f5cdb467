// collectBody(), discardBody() and endBatch().

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, catchingUncaught, eventually, get, pattern, post, serve, turns } from '../helpers.js';

const wrongType = { name: 'TypeError' };
const outOfRange = { name: 'RangeError' };
const textOf = (buffer) => Buffer.from(buffer).toString('latin1');

function chunked(body, size) {
  let text = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  for (let at = 0; at < body.length; at += size) {
    const piece = body.slice(at, at + size);
    text += `${piece.length.toString(16)}\r\n${piece}\r\n`;
  }
  return `${text}0\r\n\r\n`;
}

/** A server that answers with what it collected. */
function collecting(t, maxSize, prepare = () => {}) {
  return serve(t, (app) =>
    app.any('/', async (res) => {
      res.onAborted(() => {});
      await prepare(res);
      res.collectBody(maxSize, (body) => {
        assert.ok(body === null || body instanceof ArrayBuffer);
        res.end(body === null ? 'too much' : `got ${textOf(body)}`);
      });
    }),
  );
}

const small = Buffer.from(pattern(500)).toString('hex');
const large = Buffer.from(pattern(150_000)).toString('hex');
const requests = {
  'no body': [get('/'), ''],
  'an empty body': [post('/', ''), ''],
  'a body in the same segment': [post('/', small), small],
  'a body of many pieces': [post('/', large), large],
  'a chunked body': [chunked(large, 1000), large],
};
for (const [what, [request, body]] of Object.entries(requests)) {
  test(`collectBody: ${what}`, async (t) => {
    assert.equal((await ask(collecting(t, 300_000), request)).text, `got ${body}`);
  });
  test(`collectBody after an await: ${what}`, async (t) => {
    const server = collecting(t, 300_000, () => turns());
    assert.equal((await ask(server, request)).text, `got ${body}`);
  });
}

test('collectBody gives null, once, for a body that is larger', async (t) => {
  for (const [request] of [requests['a body of many pieces'], requests['a chunked body']]) {
    assert.equal((await ask(collecting(t, 299_999), request)).text, 'too much');
    assert.equal((await ask(collecting(t, 0), request)).text, 'too much');
  }
  assert.equal((await ask(collecting(t, 0), get('/'))).text, 'got ');
});

test('a connection goes on behind a body that was too large', async (t) => {
  const server = collecting(t, 10);
  const client = await server.connect();
  client.send(post('/', large) + post('/', 'short'));
  assert.equal((await client.response()).text, 'too much');
  assert.equal((await client.response()).text, 'got short');
});

test('what collectBody gave stays the program’s', async (t) => {
  const kept = [];
  const server = serve(t, (app) =>
    app.post('/', (res) => {
      res.onAborted(() => {});
      res.collectBody(1000, (body) => {
        kept.push(body);
        res.end();
      });
    }),
  );
  const client = await server.connect();
  for (const body of ['first', 'second', 'third']) {
    client.send(post('/', body));
    await client.response();
  }
  assert.deepEqual(kept.map(textOf), ['first', 'second', 'third']);
});

test('onData takes the place of collectBody, and detaches its chunks again', async (t) => {
  const chunks = [];
  const server = serve(t, (app) =>
    app.post('/', (res) => {
      res.collectBody(1000, () => assert.fail('replaced'));
      res.onData((chunk, isLast) => {
        chunks.push(chunk);
        if (isLast) res.end(textOf(chunk));
      });
    }),
  );
  assert.equal((await ask(server, post('/', 'body'))).text, 'body');
  assert.ok(chunks.every((chunk) => chunk.byteLength === 0));
});

test('a collector that throws is reported, and its request answered', async (t) => {
  const server = serve(t, (app) =>
    app.post('/', (res) => {
      res.collectBody(1000, () => {
        throw new Error('mine');
      });
    }),
  );
  const caught = await catchingUncaught(async () => {
    const client = await server.connect();
    client.send(post('/', 'body'));
    await eventually(() => client.error ?? true, 'an end');
    await turns();
  });
  assert.deepEqual(
    caught.map((error) => error.message),
    ['mine'],
  );
});

test('wrong arguments of collectBody are refused, and the response stays usable', async (t) => {
  const server = serve(t, (app) =>
    app.post('/', (res) => {
      for (const size of [-1, 0.5, Number.NaN, Infinity, '5', null, undefined, 5n, {}]) {
        assert.throws(() => res.collectBody(size, () => {}), outOfRange);
      }
      for (const handler of [undefined, null, 5, 'x', {}]) {
        assert.throws(() => res.collectBody(5, handler), wrongType);
      }
      res.collectBody(5, (body) => res.end(body));
    }),
  );
  assert.equal((await ask(server, post('/', 'right'))).text, 'right');
});

test('discardBody lets the body pass, and the answer come later', async (t) => {
  const seen = [];
  const server = serve(t, (app) =>
    app.post('/', (res) => {
      res.onData((chunk) => seen.push(chunk.byteLength));
      assert.equal(res.discardBody(), undefined);
      setTimeout(() => res.end('later'), 20);
    }),
  );
  const client = await server.connect();
  client.send(post('/', large) + post('/', 'x'));
  assert.equal((await client.response()).text, 'later');
  assert.equal((await client.response()).text, 'later');
  assert.deepEqual(seen, []);
});

test('discardBody of a body that is held or paused lets it go on', async (t) => {
  const server = serve(t, (app) =>
    app.post('/', async (res) => {
      res.onAborted(() => {});
      res.pause();
      await turns(20);
      res.discardBody();
      await turns(20);
      res.end('done');
    }),
  );
  const client = await server.connect();
  client.send(post('/', large) + post('/', 'x'));
  assert.equal((await client.response()).text, 'done');
  assert.equal((await client.response()).text, 'done');
});

test('endBatch sends status, fields and body', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      assert.equal(res.endBatch('201 Created', ['x-a', '1', 'x-b', Buffer.from('2')], 'body'), res);
      assert.throws(() => res.endBatch('200 OK', []), { code: 'ERR_MILLRACE_RESPONSE_GONE' });
    }),
  );
  const answer = await ask(server, get('/'));
  assert.deepEqual(
    [answer.status, answer.fields['x-a'], answer.fields['x-b'], answer.text],
    [201, '1', '2', 'body'],
  );
});

test('endBatch leaves the status that was written before', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      res.writeStatus('202 Accepted').endBatch('500 No', []);
    }),
  );
  const answer = await ask(server, get('/'));
  assert.deepEqual([answer.status, answer.text], [202, '']);
});

test('endBatch writes nothing of what is wrong in any part', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      res.writeHeader('kept', '1');
      const wrong = [
        ['200 a\r\nb', [], ''],
        [200, [], ''],
        ['299 X', ['x-a'], ''],
        ['299 X', 'x-a', ''],
        ['299 X', { length: 0 }, ''],
        ['299 X', ['x-a', '1', 'x b', '2'], ''],
        ['299 X', ['x-a', '1', 'x-b', 'a\r\nb'], ''],
        ['299 X', ['x-a', '1', 'x-b', 5], ''],
        ['299 X', ['x-a', '1'], 5],
      ];
      for (const parts of wrong) assert.throws(() => res.endBatch(...parts), wrongType);
      res.end('usable');
    }),
  );
  const answer = await ask(server, get('/'));
  assert.deepEqual([answer.status, answer.fields.kept, answer.text], [200, '1', 'usable']);
  assert.equal(answer.fields['x-a'], undefined);
});

test('a getter in the fields of endBatch that answers leaves the response answered', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      const fields = ['x-a', '1'];
      Object.defineProperty(fields, 1, {
        get: () => {
          res.end('by the getter');
          return '1';
        },
      });
      const gone = { code: 'ERR_MILLRACE_RESPONSE_GONE' };
      assert.throws(() => res.endBatch('200 OK', fields), gone);
      assert.throws(() => res.end('again'), gone);
    }),
  );
  const client = await server.connect();
  client.send(get('/') + get('/'));
  assert.equal((await client.response()).text, 'by the getter');
  assert.equal((await client.response()).text, 'by the getter');
});
