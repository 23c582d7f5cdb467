// Patterns and their precedence, as seen through App.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, get, serve } from '../helpers.js';

/** Which pattern of `patterns` takes each path; 404 as undefined. */
async function assertMatches(t, patterns, expected) {
  const server = serve(t, (app) => {
    for (const [index, pattern] of patterns.entries()) {
      const [method, path] = pattern.startsWith('any ')
        ? ['any', pattern.slice(4)]
        : ['get', pattern];
      app[method](path, (res) => res.end(String(index)));
    }
  });
  for (const [path, pattern] of Object.entries(expected)) {
    const answer = await ask(server, get(path));
    const found = answer.status === 404 ? undefined : patterns[Number(answer.text)];
    assert.equal(found, pattern, path);
  }
}

test('static text goes before parameters, parameters before a wildcard', async (t) => {
  await assertMatches(t, ['/*', '/:p', '/static', '/:p/deep', '/static/*'], {
    '/static': '/static',
    '/other': '/:p',
    '/other/deep': '/:p/deep',
    '/static/deep': '/static/*',
    '/other/deeper': '/*',
    '/': '/*',
  });
});

test('the search goes back when a branch ends', async (t) => {
  await assertMatches(t, ['/w/:id/:x', '/w/*', '/a/b/c', '/a/:p/d', '/:q/b/e'], {
    '/w/q': '/w/*',
    '/w/q/r': '/w/:id/:x',
    '/w/q/r/s': '/w/*',
    '/a/b/c': '/a/b/c',
    '/a/b/d': '/a/:p/d',
    '/a/b/e': '/:q/b/e',
    '/a/b/f': undefined,
  });
});

test('the routes of the method go before those of any method', async (t) => {
  await assertMatches(t, ['/*', 'any /exact'], { '/exact': '/*' });
});

test('a wildcard takes an empty rest behind its slash, and no missing slash', async (t) => {
  await assertMatches(t, ['/w/*'], { '/w/': '/w/*', '/w/a/b': '/w/*', '/w': undefined });
});

test('a parameter takes one segment that is not empty', async (t) => {
  await assertMatches(t, ['/p/:x/end'], {
    '/p/1/end': '/p/:x/end',
    '/p//end': undefined,
    '/p/1/2/end': undefined,
  });
});

test('paths are compared byte for byte', async (t) => {
  await assertMatches(
    t,
    ['/Case', '/trailing/', '/two//slashes', '/enc%20oded', '/c:olon', '/m*'],
    {
      '/Case': '/Case',
      '/case': undefined,
      '/trailing/': '/trailing/',
      '/trailing': undefined,
      '/two//slashes': '/two//slashes',
      '/two/slashes': undefined,
      '/enc%20oded': '/enc%20oded',
      '/c:olon': '/c:olon',
      '/cxolon': undefined,
      '/m*': '/m*',
      '/mx': undefined,
    },
  );
});

test('the first character of a pattern is taken for its slash', async (t) => {
  await assertMatches(t, ['noslash', '*'], {
    '/oslash': 'noslash',
    '/noslash': undefined,
    '/': '*',
  });
});

test('the query takes no part in routing', async (t) => {
  await assertMatches(t, ['/a'], { '/a?b=/c': '/a', '/a?': '/a' });
});
