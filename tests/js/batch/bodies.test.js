// A body is never lost: it can be read at any time before the response is complete.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { ask, eventually, get, pattern, post, serve, turns } from '../helpers.js';

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Reads the body of a response's request; gives it, and how often its end was told. */
function read(res) {
  return new Promise((resolve) => {
    const chunks = [];
    res.onData((chunk, isLast) => {
      chunks.push(Buffer.from(Buffer.from(chunk)));
      if (isLast) resolve(Buffer.concat(chunks));
    });
  });
}

function headOf(bytes, fields = '') {
  return `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n${fields}\r\n`;
}

const delays = {
  'in the handler': () => {},
  'in a microtask': () => null,
  'after a turn of the loop': () => turns(1),
  'after many turns': () => turns(50),
};

for (const [name, delay] of Object.entries(delays)) {
  for (const bytes of [1, 5000, 1_000_000]) {
    test(`a body of ${bytes} bytes is read whole ${name}`, async (t) => {
      const server = serve(t, (app) => {
        app.post('/', async (res) => {
          res.onAborted(() => {});
          const wait = delay();
          if (wait !== undefined) await wait;
          const body = await read(res);
          res.end(`${body.length} ${digest(body)}`);
        });
      });
      const body = pattern(bytes);
      const client = await server.connect();
      client.send(Buffer.concat([Buffer.from(headOf(bytes)), body, Buffer.from(get('/none'))]));
      assert.equal((await client.response()).text, `${bytes} ${digest(body)}`);
      assert.equal((await client.response()).status, 404);
    });
  }
}

test('a body that nobody reads stops the connection at the hold window', async (t) => {
  let pending;
  const server = serve(
    t,
    (app) => {
      app.post('/', (res) => {
        pending = res;
        res.onAborted(() => {});
      });
    },
    { limits: { bodyHoldBytesMax: 10_000 } },
  );
  const body = pattern(20_000_000);
  const client = await server.connect();
  const before = server.app.stats().bytesRead;
  client.send(headOf(body.length)).send(body);
  await eventually(() => server.app.stats().bytesRead > before + 10_000, 'the window to fill');
  await turns(50);
  const bytesRead = server.app.stats().bytesRead - before;
  assert.ok(bytesRead < 1_000_000, `${bytesRead} bytes were read though nobody wants them`);
  const answered = read(pending).then((whole) => pending.end(digest(whole)));
  assert.equal((await client.response()).text, digest(body));
  await answered;
});

test('an empty body, and none at all, end with exactly one empty last piece', async (t) => {
  const pieces = [];
  const server = serve(t, (app) => {
    app.any('/', (res) => {
      res.onData((chunk, isLast) => {
        pieces.push([chunk.byteLength, isLast]);
        res.end();
      });
    });
  });
  const client = await server.connect();
  const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
  for (const wire of [get('/'), post('/', ''), chunked]) {
    pieces.length = 0;
    client.send(wire);
    await client.response();
    await turns(2);
    assert.deepEqual(pieces, [[0, true]]);
  }
});

test('the end of a body that is not there is told once, however often asked', async (t) => {
  const told = [];
  let pending;
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      pending = res;
      res.onAborted(() => {});
      res.onData(() => told.push('first'));
      res.onData(() => told.push('second'));
    });
  });
  const client = await server.connect();
  client.send(get('/'));
  await eventually(() => told.length > 0, 'the end');
  pending.onData(() => told.push('late'));
  await turns();
  pending.end('done');
  await client.response();
  assert.deepEqual(told, ['second']);
});

test('the last of several onData functions gets what comes', async (t) => {
  const seen = [];
  let pending;
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      pending = res;
      res.onAborted(() => {});
      res.onData((chunk) => seen.push(`first ${Buffer.from(chunk)}`));
    });
  });
  const client = await server.connect();
  client.send(`${headOf(8)}one `);
  await eventually(() => seen.length === 1, 'the first piece');
  pending.onData((chunk, isLast) => {
    seen.push(`second ${Buffer.from(chunk)}`);
    if (isLast) pending.end();
  });
  client.send('two.');
  await client.response();
  assert.deepEqual(seen, ['first one ', 'second two.']);
});

test('what is left of a body after the answer is discarded', async (t) => {
  let deliveries = 0;
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      res.onData(() => deliveries++);
      res.end('early');
    });
    app.get('/', (res) => res.end('next'));
  });
  const client = await server.connect();
  const body = pattern(500_000);
  client.send(headOf(body.length));
  assert.equal((await client.response()).text, 'early');
  client.send(body).send(get('/'));
  assert.equal((await client.response()).text, 'next');
  assert.equal(deliveries, 0);
});

test('a body over the discard limit ends the connection, after the answer', async (t) => {
  const server = serve(t, (app) => app.post('/', (res) => res.end('early')), {
    limits: { bodyDiscardBytesMax: 100_000 },
  });
  const client = await server.connect();
  client.send(headOf(50_000_000));
  assert.equal((await client.response()).text, 'early');
  client.send(pattern(1_000_000));
  await client.closed();
});

test('a refusal with close arrives while the body is still to come', async (t) => {
  let handled = 0;
  const server = serve(t, (app) => {
    app.post('/', (res) => res.writeStatus('413').end('too much', true));
    app.get('/', () => handled++);
  });
  const client = await server.connect();
  client.send(`${headOf(100)}${get('/')}`);
  const answer = await client.response();
  assert.deepEqual([answer.status, answer.fields.connection], [413, 'close']);
  assert.equal(await client.rest(), '');
  assert.equal(handled, 0);
});

test('a body that is cut by the end of the connection aborts, and has no last piece', async (t) => {
  for (const wire of [
    `${headOf(50)}hello`,
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
  ]) {
    const seen = [];
    const server = serve(t, (app) => {
      app.post('/', (res) => {
        res.onAborted(() => seen.push('aborted'));
        res.onData((chunk, isLast) => seen.push(`${chunk.byteLength} ${isLast}`));
      });
    });
    const client = await server.connect();
    client.send(wire);
    await eventually(() => seen.length > 0, 'the first piece');
    client.end();
    await eventually(() => seen.includes('aborted'), 'the abort');
    assert.deepEqual(seen, ['5 false', 'aborted']);
  }
});

test('pause stops the pieces until resume, however much is sent', async (t) => {
  let isPaused = false;
  let early = 0;
  let pending;
  const chunks = [];
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      pending = res;
      res.onAborted(() => {});
      res.onData((chunk, isLast) => {
        if (isPaused) early++;
        chunks.push(Buffer.from(Buffer.from(chunk)));
        if (isLast) res.end(digest(Buffer.concat(chunks)));
      });
    });
  });
  const body = pattern(4_000_000);
  const client = await server.connect();
  client.send(headOf(body.length)).send(body);
  for (let round = 1; round <= 5; round++) {
    await eventually(() => chunks.length >= round, 'a piece');
    isPaused = true;
    pending.pause().pause();
    await turns(20);
    isPaused = false;
    pending.resume();
  }
  assert.equal((await client.response()).text, digest(body));
  assert.equal(early, 0);
});

test('pause inside the handler holds back what came with the request', async (t) => {
  const seen = [];
  let pending;
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      pending = res;
      res.onAborted(() => {});
      res.onData((chunk, isLast) => {
        seen.push(Buffer.from(chunk).toString());
        if (isLast) res.end('read');
      });
      res.pause();
    });
  });
  const client = await server.connect();
  client.send(post('/', 'hello'));
  await eventually(() => pending !== undefined, 'the request');
  await turns(20);
  assert.deepEqual(seen, []);
  pending.resume();
  assert.equal((await client.response()).text, 'read');
  assert.deepEqual(seen, ['hello']);
});

test('a paused connection that is reset is told so', async (t) => {
  let pending;
  let aborts = 0;
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      pending = res;
      res.pause();
      res.onAborted(() => aborts++);
    });
  });
  const client = await server.connect();
  client.send(`${headOf(5_000_000)}beginning`);
  await eventually(() => pending !== undefined, 'the request');
  client.reset();
  await eventually(() => aborts === 1, 'the abort');
});

test('resume without pause, and before onData, does no harm', async (t) => {
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      res.onAborted(() => {});
      res.resume();
      setImmediate(() => {
        res.resume();
        res.onData((chunk, isLast) => isLast && res.resume().end(Buffer.from(chunk)));
      });
    });
  });
  assert.equal((await ask(server, post('/', 'hello'))).text, 'hello');
});

test('the body stays readable while the answer is being written', async (t) => {
  const server = serve(t, (app) => {
    app.post('/', (res) => {
      res.onAborted(() => {});
      res.write('begun ');
      res.onData((chunk, isLast) => {
        res.write(Buffer.from(chunk));
        if (isLast) res.end(' ended');
      });
    });
  });
  const client = await server.connect();
  client.send(`${headOf(10)}first`);
  await client.until(() => client.text.includes('first'), 'the echo');
  client.send('-last');
  const answer = await client.response();
  assert.equal(answer.text, 'begun first-last ended');
});

test('no timer of an upload runs while its answer is awaited', async (t) => {
  const server = serve(
    t,
    (app) => {
      app.post('/', async (res) => {
        res.onAborted(() => {});
        await read(res);
        setTimeout(() => res.end('late'), 600);
      });
    },
    { limits: { bodyIdleTimeoutMs: 50, headTimeoutMs: 50, keepAliveTimeoutMs: 50 } },
  );
  const client = await server.connect();
  client.send(post('/', 'hello'));
  assert.equal((await client.response()).text, 'late');
});
