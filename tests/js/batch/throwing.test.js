// A function of the program that throws harms nobody else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Program, catchingUncaught, eventually, get, post, serve, turns } from '../helpers.js';

const failure = () => {
  throw new Error('on purpose');
};

test('the thrower is answered with 500, its neighbours as if nothing had happened', async (t) => {
  const server = serve(t, (app) => {
    app.get('/good', (res) => res.end('good'));
    app.get('/bad', failure);
  });
  const clients = await Promise.all(Array.from({ length: 9 }, () => server.connect()));
  await turns();
  const caught = await catchingUncaught(async () => {
    clients.forEach((client, index) => client.send(get(index % 3 === 1 ? '/bad' : '/good')));
    for (const [index, client] of clients.entries()) {
      const answer = await client.response();
      assert.equal(answer.status, index % 3 === 1 ? 500 : 200);
      assert.equal(answer.fields.connection, index % 3 === 1 ? 'close' : undefined);
    }
  });
  assert.deepEqual(
    caught.map((error) => error.message),
    ['on purpose', 'on purpose', 'on purpose'],
  );
});

test('requests behind the thrower on its connection are not handled', async (t) => {
  let handled = 0;
  const server = serve(t, (app) => {
    app.get('/good', (res) => {
      handled++;
      res.end('good');
    });
    app.get('/bad', failure);
  });
  const client = await server.connect();
  await catchingUncaught(async () => {
    client.send(get('/good') + get('/bad') + get('/good'));
    assert.equal((await client.response()).status, 200);
    assert.equal((await client.response()).status, 500);
    assert.equal(await client.rest(), '');
  });
  assert.equal(handled, 1);
});

test('a handler that throws after its answer has still given it', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      res.end('answered');
      failure();
    });
  });
  const client = await server.connect();
  const caught = await catchingUncaught(async () => {
    client.send(get('/') + get('/'));
    assert.equal((await client.response()).text, 'answered');
    assert.equal((await client.response()).text, 'answered');
  });
  assert.equal(caught.length, 2);
});

test('a handler that throws in the midst of its answer loses the connection', async (t) => {
  const aborts = [];
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      res.onAborted(() => aborts.push('aborted'));
      res.write('half');
      failure();
    });
  });
  const client = await server.connect();
  const caught = await catchingUncaught(async () => {
    client.send(get('/'));
    const text = await client.rest();
    assert.ok(!text.endsWith('0\r\n\r\n'), 'the body does not look complete');
  });
  assert.equal(caught.length, 1);
  assert.deepEqual(aborts, ['aborted']);
});

test('an onData that throws costs its own request only', async (t) => {
  const server = serve(t, (app) => {
    app.post('/bad', (res) => res.onData(failure));
    app.post('/good', (res) => res.onData((_, isLast) => isLast && res.end('good')));
  });
  const [bad, good] = [await server.connect(), await server.connect()];
  const caught = await catchingUncaught(async () => {
    bad.send(post('/bad', 'hello'));
    good.send(post('/good', 'hello'));
    assert.equal((await bad.response()).status, 500);
    assert.equal((await good.response()).text, 'good');
    await bad.closed();
  });
  assert.equal(caught.length, 1);
});

test('an onAborted that throws costs nobody anything', async (t) => {
  const waiting = [];
  const server = serve(t, (app) => {
    app.get('/wait', (res) => {
      waiting.push(res);
      res.onAborted(() => {});
    });
    app.get('/bad', (res) => {
      waiting.push(res);
      res.onAborted(failure);
    });
    app.get('/slow', (res) => {
      waiting.push(res);
      res.onAborted(() => {});
      for (const other of bad) other.reset();
    });
  });
  const bad = await Promise.all(Array.from({ length: 3 }, () => server.connect()));
  for (const client of bad) client.send(get('/bad'));
  await eventually(() => waiting.length === 3, 'three requests');
  const [waiter, trigger] = [await server.connect(), await server.connect()];
  const caught = await catchingUncaught(async (errors) => {
    waiter.send(get('/wait'));
    trigger.send(get('/slow'));
    await eventually(() => errors.length === 3, 'three aborts');
    for (const res of waiting.slice(3)) res.end('still there');
    assert.equal((await waiter.response()).text, 'still there');
    assert.equal((await trigger.response()).text, 'still there');
  });
  assert.equal(caught.length, 3);
});

test('an abort that throws in a batch does not cost the request handled before it', async (t) => {
  let pending;
  const server = serve(t, (app) => {
    app.get('/bad', (res) => res.onAborted(failure));
    app.get('/wait', (res) => {
      pending = res;
      res.onAborted(() => {});
    });
  });
  const [bad, waiter] = [await server.connect(), await server.connect()];
  bad.send(get('/bad'));
  await eventually(() => server.app.stats().requests === 1, 'the request');
  const caught = await catchingUncaught(async (errors) => {
    waiter.send(get('/wait'));
    bad.reset();
    await eventually(() => errors.length === 1 && pending, 'the abort');
    pending.end('unharmed');
    assert.equal((await waiter.response()).text, 'unharmed');
  });
  assert.equal(caught.length, 1);
});

test('aborts of app.close() are all told, though some throw', async (t) => {
  let told = 0;
  const server = serve(t, (app) => {
    app.get('/', (res) =>
      res.onAborted(() => {
        told++;
        if (told % 2 === 1) failure();
      }),
    );
  });
  const clients = await Promise.all(Array.from({ length: 6 }, () => server.connect()));
  for (const client of clients) client.send(get('/'));
  await eventually(() => server.app.stats().requests === 6, 'the requests');
  const caught = await catchingUncaught(async () => {
    server.app.close();
    await Promise.all(clients.map((client) => client.closed()));
  });
  assert.equal(told, 6);
  assert.equal(caught.length, 3);
});

test('an onWritable that throws ends its own connection only', async (t) => {
  let pending;
  const server = serve(t, (app) => {
    app.get('/bad', (res) => {
      res.onAborted(() => {});
      res.onWritable(failure);
      res.write('x'.repeat(8_000_000));
    });
    app.get('/wait', (res) => {
      pending = res;
      res.onAborted(() => {});
    });
  });
  const [bad, waiter] = [await server.connect({ isPaused: true }), await server.connect()];
  const caught = await catchingUncaught(async (errors) => {
    bad.send(get('/bad'));
    await eventually(() => server.app.stats().requests === 1, 'the request');
    waiter.send(get('/wait'));
    await eventually(() => pending, 'the other request');
    bad.socket.resume();
    await eventually(() => errors.length > 0, 'the exception');
    await bad.closed();
    pending.end('unharmed');
    assert.equal((await waiter.response()).text, 'unharmed');
  });
  assert.equal(caught.length, 1);
});

test('a tick or a microtask of a handler that throws leaves the batch going on', async (t) => {
  const server = serve(t, (app) => {
    app.get('/tick', (res) => {
      process.nextTick(failure);
      res.end('tick');
    });
    app.get('/microtask', (res) => {
      queueMicrotask(failure);
      res.end('microtask');
    });
    app.get('/good', (res) => res.end('good'));
  });
  const client = await server.connect();
  const caught = await catchingUncaught(async () => {
    client.send(get('/tick') + get('/microtask') + get('/good'));
    for (const text of ['tick', 'microtask', 'good']) {
      assert.equal((await client.response()).text, text);
    }
  });
  assert.equal(caught.length, 2);
});

test('without a listener the process ends as Node ends it, after the answers given', async (t) => {
  const program = new Program(
    t,
    `
    let neighbour;
    App()
      .get('/wait', (res) => {
        neighbour = res;
        res.onAborted(() => {});
        tell('waiting');
      })
      .get('/good', (res) => res.end('good'))
      .get('/bad', () => {
        neighbour.end('saved');
        throw new Error('the last word');
      })
      .listen('127.0.0.1', 0, tellPort);
    `,
  );
  const server = await program.server(t);
  const [neighbour, client] = [await server.connect(), await server.connect()];
  neighbour.send(get('/wait'));
  await program.told(/waiting/);
  client.send(get('/good') + get('/bad'));
  assert.equal((await client.response()).text, 'good');
  assert.equal((await client.response()).status, 500);
  assert.equal((await neighbour.response()).text, 'saved');
  assert.deepEqual(await program.end(), { code: 1, signal: null });
  assert.match(program.stderr, /the last word/);
});

test('process.exit() in a handler ends at once, after what was answered is out', async (t) => {
  const program = new Program(
    t,
    `App().get('/', (res) => {
      res.end('farewell');
      process.exit(7);
    }).listen('127.0.0.1', 0, tellPort);`,
  );
  const server = await program.server(t);
  const client = await server.connect();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'farewell');
  assert.deepEqual(await program.end(), { code: 7, signal: null });
});

test('a rejected promise of a handler is answered with 500 and reported', async (t) => {
  const server = serve(t, (app) => {
    app.get('/now', async () => failure());
    app.get('/later', async (res) => {
      res.onAborted(() => {});
      await turns(2);
      failure();
    });
    app.get('/midway', async (res) => {
      res.write('half');
      await turns(1);
      failure();
    });
  });
  const caught = await catchingUncaught(async () => {
    for (const path of ['/now', '/later']) {
      const client = await server.connect();
      client.send(get(path));
      assert.equal((await client.response()).status, 500);
      await client.closed();
    }
    const client = await server.connect();
    client.send(get('/midway'));
    assert.ok(!(await client.rest()).endsWith('0\r\n\r\n'));
  });
  assert.equal(caught.length, 3);
});

test('a promise that is rejected after its answer is reported only', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', async (res) => {
      await turns(1);
      res.end('answered');
      failure();
    });
  });
  const client = await server.connect();
  const caught = await catchingUncaught(async (errors) => {
    client.send(get('/'));
    assert.equal((await client.response()).text, 'answered');
    await eventually(() => errors.length === 1, 'the exception');
  });
  assert.equal(caught[0].message, 'on purpose');
});
