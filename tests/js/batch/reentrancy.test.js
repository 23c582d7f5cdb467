// From any handler any public call is legal, and no handler runs inside another one.

import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { App, us_listen_socket_close, us_socket_local_port } from 'millrace';
import { Client, ask, deferred, eventually, get, post, serve, turns } from '../helpers.js';

/** Runs `call` inside each kind of callback; `call` gets the response and the server. */
const places = {
  'a handler': (app, call) =>
    app.get('/', (res) => {
      call(res);
    }),
  'a microtask': (app, call) =>
    app.get('/', async (res) => {
      res.onAborted(() => {});
      await null;
      call(res);
    }),
  'a timer': (app, call) =>
    app.get('/', (res) => {
      res.onAborted(() => {});
      setTimeout(() => call(res), 1);
    }),
  onData: (app, call) => app.get('/', (res) => res.onData(() => call(res))),
  cork: (app, call) => app.get('/', (res) => res.cork(() => call(res))),
};

for (const [place, put] of Object.entries(places)) {
  test(`inside ${place}: other responses may be ended`, async (t) => {
    const waiting = [];
    const server = serve(t, (app) => {
      app.get('/wait', (res) => {
        res.onAborted(() => {});
        waiting.push(res);
      });
      put(app, (res) => {
        for (const other of waiting) other.end('by another');
        res.end('own');
      });
    });
    const waiters = await Promise.all([server.connect(), server.connect()]);
    for (const client of waiters) client.send(get('/wait'));
    await eventually(() => waiting.length === 2, 'the waiting requests');
    assert.equal((await ask(server, get('/'))).text, 'own');
    for (const client of waiters) assert.equal((await client.response()).text, 'by another');
  });

  test(`inside ${place}: other connections may be closed`, async (t) => {
    const waiting = [];
    let aborts = 0;
    const server = serve(t, (app) => {
      app.get('/wait', (res) => {
        res.onAborted(() => aborts++);
        waiting.push(res);
      });
      put(app, (res) => {
        for (const other of waiting) other.close();
        res.end(`aborts ${aborts}`);
      });
    });
    const waiters = await Promise.all([server.connect(), server.connect()]);
    for (const client of waiters) client.send(get('/wait'));
    await eventually(() => waiting.length === 2, 'the waiting requests');
    assert.equal((await ask(server, get('/'))).text, 'aborts 2');
    for (const client of waiters) await client.closed();
  });

  test(`inside ${place}: the app may be closed`, async (t) => {
    const server = serve(t, (app) => put(app, () => app.close()));
    const client = await server.connect();
    client.send(get('/'));
    await client.closed();
    assert.equal(server.app.stats().connections, 0);
    assert.equal(us_socket_local_port(server.token), -1);
  });

  test(`inside ${place}: the app may listen on another port, and stop on the first`, async (t) => {
    let second;
    const server = serve(t, (app) =>
      put(app, (res) => {
        app.listen('127.0.0.1', 0, (token) => (second = token));
        us_listen_socket_close(server.token);
        res.end('moved');
      }),
    );
    const client = await server.connect();
    client.send(get('/'));
    assert.equal((await client.response()).text, 'moved');
    const moved = await Client.connect(t, us_socket_local_port(second));
    moved.send(get('/'));
    assert.equal((await moved.response()).text, 'moved');
  });

  test(`inside ${place}: routes may come and go`, async (t) => {
    const server = serve(t, (app) => {
      app.get('/old', (res) => res.end('old'));
      put(app, (res) => {
        app.get('/old', null);
        app.get('/new', (other) => other.end('new'));
        app.get('/', null);
        res.end('changed');
      });
    });
    assert.equal((await ask(server, get('/old'))).text, 'old');
    assert.equal((await ask(server, get('/'))).text, 'changed');
    assert.equal((await ask(server, get('/new'))).text, 'new');
    for (const path of ['/', '/old']) assert.equal((await ask(server, get(path))).status, 404);
  });

  test(`inside ${place}: another app may be made, asked and closed`, async (t) => {
    const made = [];
    t.after(() => made.forEach((app) => app.close()));
    const server = serve(t, (app) =>
      put(app, (res) => {
        res.onAborted(() => {});
        const inner = App().get('/', (other) => other.end('inner'));
        made.push(inner);
        inner.listen('127.0.0.1', 0, (token) => {
          const port = us_socket_local_port(token);
          http.get({ port, host: '127.0.0.1', agent: false }, (answer) => {
            answer.setEncoding('utf8').on('data', (text) => {
              inner.close();
              res.end(`${text} through outer`);
            });
          });
        });
      }),
    );
    assert.equal((await ask(server, get('/'))).text, 'inner through outer');
  });
}

test('handlers do not run inside one another', async (t) => {
  let depth = 0;
  const depths = [];
  const enter = (body) => {
    depths.push(++depth);
    body();
    depth--;
  };
  let pending;
  const server = serve(t, (app) => {
    app.get('/wait', (res) =>
      enter(() => {
        pending = res;
        res.onAborted(() => {});
      }),
    );
    app.post('/', (res) =>
      enter(() => {
        res.onData((_, isLast) => enter(() => isLast && res.end('read')));
        pending?.end('answered');
        pending = undefined;
      }),
    );
  });
  const client = await server.connect();
  client.send(`${get('/wait')}${post('/', 'hello')}`.repeat(10));
  for (let index = 0; index < 20; index++) await client.response();
  assert.deepEqual(new Set(depths), new Set([1]));
});

test('an abort function may close the connections of others, and answer them', async (t) => {
  const responses = new Map();
  const server = serve(t, (app) => {
    app.get('/:name', (res, req) => {
      const name = req.getParameter(0);
      responses.set(name, res);
      res.onAborted(() => {
        if (name !== 'first') return;
        responses.get('second').close();
        responses.get('third').end('answered');
      });
    });
  });
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => server.connect()));
  first.send(get('/first'));
  second.send(get('/second'));
  third.send(get('/third'));
  await eventually(() => responses.size === 3, 'three requests');
  first.reset();
  assert.equal((await third.response()).text, 'answered');
  await second.closed();
});

test('an onWritable function may end its response and close the app', async (t) => {
  const told = deferred();
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      res.onAborted(() => told.resolve('aborted'));
      res.onWritable(() => {
        res.end();
        app.close();
        told.resolve('ended');
        return true;
      });
      while (res.write('x'.repeat(1_000_000)));
    });
  });
  const client = await server.connect();
  client.send(get('/'));
  assert.equal(await told.promise, 'ended');
  await client.closed();
});

test('a listen callback may close, and throw', async (t) => {
  const app = App();
  t.after(() => app.close());
  let port;
  app.listen('127.0.0.1', 0, (token) => {
    port = us_socket_local_port(token);
    us_listen_socket_close(token);
    assert.equal(us_socket_local_port(token), -1);
  });
  assert.ok(port > 0);
  const thrower = () => {
    throw new Error('from the callback');
  };
  assert.throws(() => app.listen('127.0.0.1', 0, thrower), /from the callback/);
  await turns(1);
});

test('the same response may be corked inside its cork, and inside that of another', async (t) => {
  let first;
  const server = serve(t, (app) => {
    app.get('/first', (res) => {
      first = res;
      res.onAborted(() => {});
    });
    app.get('/second', (res) => {
      res.cork(() => {
        first.cork(() => {
          res.cork(() => res.writeStatus('201 Created'));
          first.writeHeader('n', '1').end('first');
        });
        res.end('second');
      });
    });
  });
  const client = await server.connect();
  client.send(get('/first') + get('/second'));
  const [one, two] = [await client.response(), await client.response()];
  assert.deepEqual([one.text, one.fields.n], ['first', '1']);
  assert.deepEqual([two.text, two.status], ['second', 201]);
});

test('an exception inside cork reaches the caller, and the response is still open', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', (res) => {
      const fault = () => {
        res.writeHeader('kept', 'yes');
        throw new RangeError('inside');
      };
      assert.throws(() => res.cork(fault), RangeError);
      res.end('open');
    });
  });
  const answer = await ask(server, get('/'));
  assert.deepEqual([answer.text, answer.fields.kept], ['open', 'yes']);
});
