// HttpRequest: method, path, query, fields, parameters, yield.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, catchingUncaught, get, serve } from '../helpers.js';

const wrongType = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };

/** What `read` gives for a request of these bytes. */
async function readOf(t, wire, read, pattern = '/*') {
  const values = [];
  const server = serve(t, (app) => {
    app.any(pattern, (res, req) => {
      values.push(read(req));
      res.end('read');
    });
  });
  const isHead = wire.startsWith('HEAD ');
  const answer = await ask(server, wire, { isHead });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(values.length, 1);
  return values[0];
}

test('every method refuses wrong arguments and keeps the request usable', async (t) => {
  const seen = await readOf(t, get('/'), (req) => {
    for (const value of [5, null, true, {}, [], () => {}, Symbol('s'), 1n]) {
      assert.throws(() => req.getHeader(value), wrongType);
      assert.throws(() => req.getQuery(value), wrongType);
      if (typeof value !== 'number') assert.throws(() => req.getParameter(value), wrongType);
      if (typeof value !== 'function') assert.throws(() => req.forEach(value), wrongType);
    }
    for (const value of [-1, 0.5, Number.NaN, Infinity, 65536, 2 ** 40]) {
      assert.throws(() => req.getParameter(value), wrongType);
    }
    assert.throws(() => req.forEach(), wrongType);
    return req.getUrl();
  });
  assert.equal(seen, '/');
});

test('methods refuse to be called on what is not a request', async (t) => {
  await readOf(t, get('/'), (req) => {
    for (const value of [Object.create(req), {}, null, undefined]) {
      for (const name of ['getMethod', 'getUrl', 'getHeader', 'getParameter', 'setYield']) {
        assert.throws(() => req[name].call(value, 'x'));
      }
    }
  });
});

test('getMethod() is in lower case, getCaseSensitiveMethod() as received', async (t) => {
  const read = (req) => [
    req.getMethod(),
    req.getCaseSensitiveMethod(),
    req.getMethod(),
    req.getCaseSensitiveMethod(),
  ];
  for (const method of ['GET', 'DELETE', 'PropFind', 'HEAD']) {
    const lower = method.toLowerCase();
    const values = await readOf(t, `${method} / HTTP/1.1\r\nHost: x\r\n\r\n`, read);
    assert.deepEqual(values, [lower, method, lower, method]);
  }
});

test('getUrl() is the path without the query, as received', async (t) => {
  for (const [target, url] of [
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/a//b/', '/a//b/'],
    ['/a%2Fb%20c', '/a%2Fb%20c'],
    ['/a?b=c', '/a'],
    ['/?', '/'],
    ['/a?b?c', '/a'],
    ['/A/../b', '/A/../b'],
  ]) {
    assert.equal(await readOf(t, get(target), (req) => req.getUrl()), url);
  }
});

test('an absolute target gives its path; getHeader of the host gives its authority', async (t) => {
  const wire = 'GET http://example.com:8080/path?q=1 HTTP/1.1\r\nHost: x\r\n\r\n';
  const values = await readOf(t, wire, (req) => [req.getUrl(), req.getQuery('q')]);
  assert.deepEqual(values, ['/path', '1']);
});

test('getQuery() is what stands behind the first question mark, undefined without', async (t) => {
  for (const [target, query] of [
    ['/', undefined],
    ['/?', ''],
    ['/?a=1&b=%20', 'a=1&b=%20'],
    ['/?a?b', 'a?b'],
  ]) {
    assert.equal(await readOf(t, get(target), (req) => req.getQuery()), query);
  }
});

const query =
  '/?a=1%202&b=x+y&c&d=&e=%zz&a=2&%61=9&f%20g=h&=empty&i=%E4%B8%AD%2B&j=%f&k=%2541&l=%ff%41';
for (const [key, value] of Object.entries({
  a: '1 2',
  b: 'x y',
  c: '',
  d: '',
  e: '%zz',
  'f g': 'h',
  i: '\u4e2d+',
  j: '%f',
  k: '%41',
  l: '\ufffdA',
  'f%20g': 'h',
  '': undefined,
  missing: undefined,
  A: undefined,
  ab: undefined,
})) {
  test(`getQuery(${JSON.stringify(key)}) decodes, and does not change the query`, async (t) => {
    const read = (req) => [req.getQuery(key), req.getQuery(key), req.getQuery()];
    assert.deepEqual(await readOf(t, get(query), read), [value, value, query.slice(2)]);
  });
}

test('an encoded key is found under its decoded name; a semicolon separates nothing', async (t) => {
  const read = (req) => [req.getQuery('a b'), req.getQuery('x')];
  assert.deepEqual(await readOf(t, get('/?a%20b=1;x=2'), read), ['1;x=2', undefined]);
});

test('getQuery(key) without a query is undefined', async (t) => {
  assert.equal(await readOf(t, get('/'), (req) => req.getQuery('a')), undefined);
});

test('getHeader() finds a name in any case, and gives the first of several', async (t) => {
  const wire = get('/', 'X-One: first\r\nx-one: second\r\nX-Empty:\r\nX-Wide: \t padded \t\r\n');
  const read = (req) =>
    ['x-one', 'X-ONE', 'x-empty', 'x-wide', 'x-none', '', 'host', 'Host'].map((name) =>
      req.getHeader(name),
    );
  assert.deepEqual(await readOf(t, wire, read), ['first', 'first', '', 'padded', '', '', 'x', 'x']);
});

test('getHeader() takes a name as bytes', async (t) => {
  const read = (req) => req.getHeader(Buffer.from('host'));
  assert.equal(await readOf(t, get('/'), read), 'x');
});

test('field values keep all bytes beyond ASCII, as Latin-1', async (t) => {
  const wire = get('/', 'A: caf\xe9\r\nB: \xe9caf\r\nC: \xff\r\nD: a\xe9b\r\n');
  const read = (req) => {
    const values = ['a', 'b', 'c', 'd'].map((name) => req.getHeader(name));
    req.forEach((name, value) => name.length === 1 && values.push(value));
    return values;
  };
  const expected = ['caf\xe9', '\xe9caf', '\xff', 'a\xe9b'];
  assert.deepEqual(await readOf(t, wire, read), [...expected, ...expected]);
});

test('forEach() gives all fields in the order of the wire, names in lower case', async (t) => {
  const wire = get('/', 'B: 1\r\nA: 2\r\nb: 3\r\nCookie: a=1\r\nCookie: b=2\r\n');
  const pairs = await readOf(t, wire, (req) => {
    const seen = [];
    assert.equal(
      req.forEach((name, value) => seen.push([name, value])),
      undefined,
    );
    return seen;
  });
  assert.deepEqual(pairs, [
    ['host', 'x'],
    ['b', '1'],
    ['a', '2'],
    ['b', '3'],
    ['cookie', 'a=1'],
    ['cookie', 'b=2'],
  ]);
});

test('forEach() stops at the first exception, and passes it on', async (t) => {
  const count = await readOf(t, get('/', 'A: 1\r\nB: 2\r\n'), (req) => {
    let calls = 0;
    const fault = () => {
      calls++;
      throw new RangeError('stop');
    };
    assert.throws(() => req.forEach(fault), RangeError);
    return calls;
  });
  assert.equal(count, 1);
});

test('getParameter() takes an index or a name, and gives the path as received', async (t) => {
  const read = (req) =>
    [0, 1, 2, 'first', 'second', 'none', '', undefined, Buffer.from('first')].map((which) =>
      req.getParameter(which),
    );
  const values = await readOf(t, get('/u/a%2Fb%20c/x'), read, '/u/:first/:second');
  const none = undefined;
  assert.deepEqual(values, [
    'a%2Fb%20c',
    'x',
    none,
    'a%2Fb%20c',
    'x',
    none,
    none,
    none,
    'a%2Fb%20c',
  ]);
});

test('of two parameters with one name the last is found by name, both by index', async (t) => {
  const read = (req) => [req.getParameter('n'), req.getParameter(0), req.getParameter(1)];
  assert.deepEqual(await readOf(t, get('/1/2'), read, '/:n/:n'), ['2', '1', '2']);
});

test('without parameters there is none', async (t) => {
  const read = (req) => [req.getParameter(0), req.getParameter(65535), req.getParameter('x')];
  assert.deepEqual(await readOf(t, get('/a'), read, '/a'), [undefined, undefined, undefined]);
});

test('setYield(true) passes the request on, with the parameters of the next route', async (t) => {
  const server = serve(t, (app) => {
    app.get('/:a/x', (res, req) => req.setYield(true));
    app.get('/:b/:c', (res, req) => {
      assert.equal(req.setYield(true), req);
      req.setYield(req.getParameter('c') === 'x');
      if (req.getParameter('c') !== 'x') res.end('not yielded');
    });
    app.any('/*', (res, req) => res.end(`any ${req.getUrl()} ${req.getParameter(0)}`));
  });
  assert.equal((await ask(server, get('/1/x'))).text, 'any /1/x undefined');
  assert.equal((await ask(server, get('/1/y'))).text, 'not yielded');
});

test('when all yield the answer is 404, and the connection goes on', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', (res, req) => req.setYield(true));
    app.any('/*', (res, req) => req.setYield(true));
    app.get('/next', (res) => res.end('next'));
  });
  const client = await server.connect();
  client.send(get('/') + get('/next'));
  assert.equal((await client.response()).status, 404);
  assert.equal((await client.response()).text, 'next');
});

test('the body comes to whoever answers, after handlers that yield', async (t) => {
  const server = serve(t, (app) => {
    app.post('/', (res, req) => {
      res.onAborted(() => {});
      req.setYield(true);
    });
    app.any('/*', (res) => res.onData((chunk, isLast) => isLast && res.end(Buffer.from(chunk))));
  });
  const wire = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody';
  assert.equal((await ask(server, wire)).text, 'body');
});

test('a handler that yields after its answer has answered', async (t) => {
  let calls = 0;
  const server = serve(t, (app) => {
    app.get('/', (res, req) => {
      res.end('answered');
      req.setYield(true);
    });
    app.any('/*', () => calls++);
  });
  const client = await server.connect();
  client.send(get('/') + get('/'));
  assert.equal((await client.response()).text, 'answered');
  assert.equal((await client.response()).text, 'answered');
  assert.equal(calls, 0);
});

test('a handler that yields in the midst of its answer keeps it', async (t) => {
  let calls = 0;
  const server = serve(t, (app) => {
    for (const [path, begin] of Object.entries({
      '/write': (res) => res.write('begun '),
      '/beginWrite': (res) => res.beginWrite(),
      '/tryEnd': (res) => res.tryEnd('begun ', 11),
    })) {
      app.get(path, (res, req) => {
        res.onAborted(() => {});
        begin(res);
        req.setYield(true);
        setImmediate(() => res.end('ended'));
      });
    }
    app.get('/:other', () => calls++);
  });
  const client = await server.connect();
  for (const path of ['/write', '/beginWrite', '/tryEnd', '/tryEnd']) {
    client.send(get(path));
    const { status, text } = await client.response();
    assert.deepEqual([status, text], [200, path === '/beginWrite' ? 'ended' : 'begun ended']);
  }
  assert.equal(calls, 0);
});

test('the second of two handlers that throws is answered like the first', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', (res, req) => req.setYield(true));
    app.any('/*', () => {
      throw new Error('on purpose');
    });
  });
  const caught = await catchingUncaught(async () => {
    assert.equal((await ask(server, get('/'))).status, 500);
  });
  assert.equal(caught.length, 1);
});

test('a route that yields may take the next one away', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', (res, req) => {
      app.any('/', null);
      req.setYield(true);
    });
    app.any('/', (res) => res.end('taken away'));
    app.any('/*', (res) => res.end('caught'));
  });
  assert.equal((await ask(server, get('/'))).text, 'caught');
});
