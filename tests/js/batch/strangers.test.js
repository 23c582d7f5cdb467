// A response belongs to one request for ever: no answer reaches a stranger.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, eventually, get, post, random, serve, turns } from '../helpers.js';

const gone = { code: 'ERR_MILLRACE_RESPONSE_GONE' };

/** Every call that a response knows. */
const calls = {
  writeStatus: (res) => res.writeStatus('200 OK'),
  writeHeader: (res) => res.writeHeader('a', 'b'),
  write: (res) => res.write('stray'),
  beginWrite: (res) => res.beginWrite(),
  end: (res) => res.end('stray'),
  'end and close': (res) => res.end('stray', true),
  endBatch: (res) => res.endBatch('200 OK', ['a', 'b'], 'stray'),
  endWithoutBody: (res) => res.endWithoutBody(),
  tryEnd: (res) => res.tryEnd('stray', 5),
  close: (res) => res.close(),
  cork: (res) => res.cork(() => {}),
  collect: (res) => res.collect(() => {}),
  onAborted: (res) => res.onAborted(() => {}),
  onData: (res) => res.onData(() => {}),
  collectBody: (res) => res.collectBody(5, () => {}),
  discardBody: (res) => res.discardBody(),
  onWritable: (res) => res.onWritable(() => true),
  getWriteOffset: (res) => res.getWriteOffset(),
  getBufferedAmount: (res) => res.getBufferedAmount(),
  pause: (res) => res.pause(),
  resume: (res) => res.resume(),
  getRemoteAddress: (res) => res.getRemoteAddress(),
  getRemoteAddressAsText: (res) => res.getRemoteAddressAsText(),
  getRemotePort: (res) => res.getRemotePort(),
  getProxiedRemoteAddress: (res) => res.getProxiedRemoteAddress(),
  getProxiedRemoteAddressAsText: (res) => res.getProxiedRemoteAddressAsText(),
  getProxiedRemotePort: (res) => res.getProxiedRemotePort(),
};

test('the list of calls is complete', async (t) => {
  let methods;
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      methods = Object.getOwnPropertyNames(Object.getPrototypeOf(res));
      res.end();
    });
  });
  const client = await server.connect();
  client.send(get('/'));
  await client.response();
  const unnamed = methods.filter((name) => name !== 'constructor' && !(name in calls));
  assert.deepEqual(unnamed, []);
});

const completions = {
  end: (res) => res.end('x'),
  'a long end': (res) => res.end('x'.repeat(100_000)),
  endWithoutBody: (res) => res.endWithoutBody(),
  tryEnd: (res) => res.tryEnd('x', 1),
  endBatch: (res) => res.endBatch('200 OK', [], 'x'),
  'write and end': (res) => {
    res.write('x');
    res.end();
  },
};

for (const [name, complete] of Object.entries(completions)) {
  test(`every call throws after ${name}, and the next request is not touched`, async (t) => {
    let stale;
    const server = serve(t, (app) => {
      app.get('/first', (res) => {
        stale = res;
        complete(res);
        for (const call of Object.values(calls)) assert.throws(() => call(res), gone);
      });
      app.get('/second', (res) => {
        for (const call of Object.values(calls)) assert.throws(() => call(stale), gone);
        res.onAborted(() => {});
        setImmediate(() => {
          for (const call of Object.values(calls)) assert.throws(() => call(stale), gone);
          res.end('second');
        });
      });
    });
    const client = await server.connect();
    client.send(get('/first'));
    assert.equal((await client.response()).status, 200);
    client.send(get('/second'));
    assert.equal((await client.response()).text, 'second');
  });
}

for (const [name, abort] of Object.entries({
  'a reset': ({ client }) => client.reset(),
  'res.close()': ({ res }) => res.close(),
  'app.close()': ({ server }) => server.app.close(),
})) {
  test(`every call throws from the abort by ${name} on`, async (t) => {
    const server = serve(t, (app) => {
      app.get('/', (res) => {
        abortable = res;
        res.onAborted(() => {
          faults.push(...Object.values(calls).filter((call) => throwsOther(call, res)));
          isAborted = true;
        });
      });
    });
    let abortable;
    let isAborted = false;
    const faults = [];
    const client = await server.connect();
    client.send(get('/'));
    await eventually(() => abortable !== undefined, 'the request');
    abort({ client, res: abortable, server });
    await eventually(() => isAborted, 'the abort');
    for (const call of Object.values(calls)) assert.throws(() => call(abortable), gone);
    await turns();
    for (const call of Object.values(calls)) assert.throws(() => call(abortable), gone);
    assert.deepEqual(faults, []);
  });
}

function throwsOther(call, res) {
  try {
    call(res);
  } catch (error) {
    return error.code !== gone.code;
  }
  return true;
}

for (const [name, call] of Object.entries(calls)) {
  test(`${name} does nothing between the end of the connection and its abort`, async (t) => {
    const waiting = [];
    const aborts = [];
    const server = serve(t, (app) => {
      app.get('/wait', (res) => {
        const index = waiting.push(res) - 1;
        res.onAborted(() => aborts.push(index));
      });
      app.get('/answer', (res) => {
        waiting[0].end('last', true);
        call(waiting[1]);
        res.end('done');
      });
    });
    const [client, other] = [await server.connect(), await server.connect()];
    client.send(get('/wait') + get('/wait'));
    await eventually(() => waiting.length === 2, 'two requests');
    other.send(get('/answer'));
    assert.equal((await other.response()).text, 'done');
    assert.equal((await client.response()).text, 'last');
    assert.equal(await client.rest(), '');
    await turns();
    assert.ok(aborts.length <= 1 && !aborts.includes(0));
    assert.throws(() => waiting[1].end(), gone);
  });
}

test('a late answer cannot reach the successor of its connection', async (t) => {
  const stale = [];
  const server = serve(t, (app) => {
    app.get('/wait', (res) => {
      stale.push(res);
      res.onAborted(() => {});
    });
    app.get('/fresh', (res) => res.end('fresh'));
  });
  for (let round = 0; round < 20; round++) {
    const client = await server.connect();
    client.send(get('/wait'));
    await eventually(() => stale.length === round + 1, 'the request');
    client.reset();
    await eventually(() => server.app.stats().aborted === round + 1, 'the abort');
    await turns(1);
    const next = await server.connect();
    next.send(get('/fresh') + get('/fresh'));
    for (const res of stale) assert.throws(() => res.end('stray'), gone);
    assert.equal((await next.response()).text, 'fresh');
    assert.equal((await next.response()).text, 'fresh');
    next.reset();
  }
});

test('many connections that come and go at random all get what is theirs', async (t) => {
  const number = random(20_240_601);
  const server = serve(t, (app) => {
    app.any('/:name', (res, req) => answerSomehow(number, res, req.getParameter(0)));
  });
  let asked = 0;
  const peer = async () => {
    for (let round = 0; round < 12; round++) {
      const client = await server.connect();
      const names = Array.from({ length: 1 + number(6) }, () => `n${asked++}`);
      const wire = names.map((name) =>
        number(3) === 0 ? post(`/${name}`, 'b'.repeat(number(3000))) : get(`/${name}`),
      );
      client.send(wire.join(''));
      const patience = number(2) === 0 ? names.length : number(names.length);
      for (const name of names.slice(0, patience)) {
        assert.equal((await client.response()).text.slice(0, name.length + 1), `${name};`);
      }
      if (number(2) === 0) client.reset();
      else client.socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: 25 }, peer));
  await eventually(() => server.app.stats().connections === 0, 'the end of all connections');
});

test('nobody makes a response or a request of somebody else', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', (res, req) => {
      for (const { constructor } of [res, req, server.token]) {
        assert.throws(() => Reflect.construct(constructor, [0]), TypeError);
        assert.throws(() => constructor(0), { code: 'ERR_INVALID_ARG_TYPE' });
        assert.throws(() => constructor.call(res, 0), { code: 'ERR_INVALID_ARG_TYPE' });
      }
      assert.equal(res.constructor.name, 'HttpResponse');
      res.end('mine');
    });
  });
  assert.equal((await ask(server, get('/'))).text, 'mine');
});

/** Answers with the name of the request, in one of many ways, now or later. */
function answerSomehow(number, res, name) {
  let isOpen = true;
  res.onAborted(() => (isOpen = false));
  const answer = () => {
    if (!isOpen) return;
    isOpen = false;
    const body = `${name};${'x'.repeat(number(2) === 0 ? number(200) : number(40_000))}`;
    const kind = number(4);
    if (kind === 0) res.write(body);
    if (kind === 0) res.end();
    else if (kind === 1) res.writeHeader('name', name).end(body);
    else res.end(body);
  };
  const when = number(5);
  if (when === 0) answer();
  else if (when === 1) queueMicrotask(answer);
  else if (when === 2) setImmediate(answer);
  else if (when === 3) setTimeout(answer, number(4));
  else res.onData((_, isLast) => isLast && answer());
}
