// The request, and every view of received memory, is valid until its handler returns.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestPrefetchPlan } from 'millrace';
import { ask, catchingUncaught, eventually, get, post, serve, turns } from '../helpers.js';

const gone = { code: 'ERR_MILLRACE_REQUEST_GONE' };

const reads = {
  getMethod: (req) => req.getMethod(),
  getCaseSensitiveMethod: (req) => req.getCaseSensitiveMethod(),
  getUrl: (req) => req.getUrl(),
  getQuery: (req) => req.getQuery(),
  'getQuery(key)': (req) => req.getQuery('a'),
  getHeader: (req) => req.getHeader('host'),
  getParameter: (req) => req.getParameter(0),
  forEach: (req) => req.forEach(() => {}),
  prefetch: (req) => req.prefetch(new RequestPrefetchPlan({ headers: 'all' })),
  setYield: (req) => req.setYield(false),
};

function assertGone(req) {
  for (const read of Object.values(reads)) assert.throws(() => read(req), gone);
}

test('the list of reads is complete', async (t) => {
  let methods;
  const server = serve(t, (app) => {
    app.get('/', (res, req) => {
      methods = Object.getOwnPropertyNames(Object.getPrototypeOf(req));
      res.end();
    });
  });
  await ask(server, get('/'));
  const unnamed = methods.filter((name) => name !== 'constructor' && !(name in reads));
  assert.deepEqual(unnamed, []);
});

test('a request is readable until its handler returns, after the answer too', async (t) => {
  const server = serve(t, (app) => {
    app.get('/:name', (res, req) => {
      res.end(req.getParameter(0));
      assert.equal(req.getUrl(), '/one');
      assert.equal(req.getHeader('host'), 'x');
    });
  });
  assert.equal((await ask(server, get('/one'))).text, 'one');
});

test('a request is readable after its connection was closed by the handler', async (t) => {
  let url;
  const server = serve(t, (app) => {
    app.get('/:name', (res, req) => {
      res.close();
      url = req.getUrl();
    });
  });
  const client = await server.connect();
  client.send(get('/one'));
  await client.closed();
  assert.equal(url, '/one');
});

test('every read throws after the handler has returned', async (t) => {
  const kept = [];
  const server = serve(t, (app) => {
    app.get('/', (res, req) => {
      kept.push(req);
      if (kept.length === 2) assertGone(kept[0]);
      res.end();
    });
  });
  const client = await server.connect();
  client.send(get('/') + get('/'));
  await client.response();
  await client.response();
  assert.equal(kept.length, 2);
  for (const req of kept) assertGone(req);
});

test('every read throws behind an await, be it of a microtask or of a timer', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', async (res, req) => {
      res.onAborted(() => {});
      assert.equal(req.getUrl(), '/');
      await null;
      assertGone(req);
      await turns(1);
      assertGone(req);
      res.end('checked');
    });
  });
  assert.equal((await ask(server, get('/'))).text, 'checked');
});

test('every read throws inside onData, onAborted and a tick', async (t) => {
  let checks = 0;
  const server = serve(t, (app) => {
    app.post('/', (res, req) => {
      process.nextTick(() => {
        assertGone(req);
        checks++;
      });
      res.onAborted(() => {
        assertGone(req);
        checks++;
      });
      res.onData(() => {
        assertGone(req);
        checks++;
        res.close();
      });
    });
  });
  const client = await server.connect();
  client.send(post('/', 'hello'));
  await client.closed();
  await eventually(() => checks === 3, 'three checks');
});

test('a request is not readable from the handler of another one', async (t) => {
  let other;
  const server = serve(t, (app) => {
    app.get('/first', (res, req) => {
      other = req;
      res.end();
    });
    app.get('/second', (res, req) => {
      assertGone(other);
      assert.equal(req.getUrl(), '/second');
      res.end('second');
    });
  });
  const client = await server.connect();
  client.send(get('/first') + get('/second'));
  await client.response();
  assert.equal((await client.response()).text, 'second');
});

test('a request is not readable after its handler has thrown', async (t) => {
  let kept;
  const server = serve(t, (app) => {
    app.get('/', (_, req) => {
      kept = req;
      throw new Error('on purpose');
    });
  });
  await catchingUncaught(async () => {
    assert.equal((await ask(server, get('/'))).status, 500);
  });
  assertGone(kept);
});

test('a chunk of a body is detached when onData returns, a copy of it is not', async (t) => {
  const kept = [];
  const copies = [];
  const server = serve(t, (app) => {
    app.post('/', (res) =>
      res.onData((chunk, isLast) => {
        kept.push(chunk, new Uint8Array(chunk));
        copies.push(Buffer.from(Buffer.from(chunk)));
        if (isLast) res.end();
      }),
    );
  });
  await ask(server, post('/', 'hello'));
  for (const chunk of kept) assert.equal(chunk.byteLength, 0);
  assert.equal(Buffer.concat(copies).toString(), 'hello');
});

test('a chunk of a body may be transferred away inside onData', async (t) => {
  let moved;
  const server = serve(t, (app) => {
    app.post('/', (res) =>
      res.onData((chunk) => {
        moved = structuredClone(chunk, { transfer: [chunk] });
        res.end();
      }),
    );
  });
  await ask(server, post('/', 'hello'));
  assert.equal(Buffer.from(moved).toString(), 'hello');
});
