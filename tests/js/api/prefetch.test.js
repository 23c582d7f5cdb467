// prefetch(): fields that outlive their request.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestPrefetchPlan } from 'millrace';
import { ask, deferred, get, serve, turns } from '../helpers.js';

const wrongType = { name: 'TypeError' };
const fields = 'X-One: 1\r\nx-two: caf\xe9\r\nX-ONE: 2\r\n__proto__: p\r\n';

/** What `look` finds in the snapshot after the request is gone. */
async function lookLater(t, plan, look) {
  const looked = deferred();
  const server = serve(t, (app) =>
    app.get('/', async (res, req) => {
      res.onAborted(() => {});
      const snapshot = req.prefetch(plan);
      await turns();
      const isGone = { code: 'ERR_MILLRACE_REQUEST_GONE' };
      try {
        assert.throws(() => req.getHeader('x-one'), isGone);
        looked.resolve(look(snapshot));
      } catch (error) {
        looked.reject(error);
      }
      res.end();
    }),
  );
  const client = await server.connect();
  client.send(Buffer.from(get('/', fields), 'latin1'));
  return looked.promise;
}

test('chosen fields can be read after the request is gone', async (t) => {
  const plan = new RequestPrefetchPlan({ headers: ['X-One', 'x-none'] });
  await lookLater(t, plan, (snapshot) => {
    assert.equal(snapshot.getHeader('X-oNe'), '1');
    assert.deepEqual(snapshot.getHeaderValues('x-one'), ['1', '2']);
    assert.equal(snapshot.getHeader('x-none'), undefined);
    assert.equal(snapshot.getHeaderValues('x-none'), undefined);
    assert.equal(snapshot.getHeader('x-two'), undefined, 'not chosen');
    assert.deepEqual(snapshot.getHeaderEntries(), ['x-one', '1', 'x-one', '2']);
    assert.deepEqual({ ...snapshot.getHeaders() }, { 'x-one': '2' });
    assert.throws(() => snapshot.getHeader(5), wrongType);
    assert.throws(() => snapshot.getHeaderValues({}), wrongType);
  });
});

test('all fields, also those with names of objects’ own', async (t) => {
  const plan = new RequestPrefetchPlan({ headers: 'all' });
  const found = await lookLater(t, plan, (snapshot) => ({
    entries: snapshot.getHeaderEntries(),
    headers: snapshot.getHeaders(),
    again: snapshot.getHeaders() === snapshot.getHeaders(),
    values: snapshot.getHeaderValues('x-one'),
  }));
  assert.deepEqual(found.entries.slice(-8), [
    ...['x-one', '1', 'x-two', 'caf\xe9', 'x-one', '2', '__proto__', 'p'],
  ]);
  assert.equal(Object.getPrototypeOf(found.headers), null);
  assert.equal(found.headers['__proto__'], 'p');
  assert.equal(found.headers['x-two'], 'caf\xe9');
  assert.ok(found.again);
  assert.ok(Object.isFrozen(found.entries) && Object.isFrozen(found.values));
});

test('a plan is frozen, and knows its names', () => {
  const plan = new RequestPrefetchPlan({ headers: ['A', 'b', 'a'] });
  assert.deepEqual(plan.headerNames, ['a', 'b']);
  assert.ok(Object.isFrozen(plan) && Object.isFrozen(plan.headerNames));
  assert.deepEqual(new RequestPrefetchPlan({ headers: 'all' }).headerNames, []);
});

test('what is no plan is refused', () => {
  for (const options of [undefined, null, 5, 'all', {}, { headers: 'any' }, { headers: 5 }]) {
    assert.throws(() => new RequestPrefetchPlan(options), wrongType);
  }
  for (const name of ['', 'a b', 'a:', 'caf\xe9', 5, null, undefined]) {
    assert.throws(() => new RequestPrefetchPlan({ headers: [name] }), wrongType);
  }
  assert.throws(() => new RequestPrefetchPlan({ headers: 'all', query: true }), wrongType);
  assert.throws(() => new RequestPrefetchPlan({ headers: Array(65_536).fill('a') }), wrongType);
});

test('prefetch() takes plans only, and leaves the request usable', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res, req) => {
      const plan = new RequestPrefetchPlan({ headers: 'all' });
      for (const value of [undefined, null, {}, 'all', Object.create(plan)]) {
        assert.throws(() => req.prefetch(value), wrongType);
      }
      const snapshot = req.prefetch(plan);
      assert.throws(() => new snapshot.constructor([]), wrongType);
      res.end(req.getHeader('x-one'));
    }),
  );
  assert.equal((await ask(server, get('/', 'X-One: 1\r\n'))).text, '1');
});
