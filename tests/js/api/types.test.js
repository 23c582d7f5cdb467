// The shipped types name what there is, and nothing else.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as millrace from 'millrace';
import { ask, get, serve } from '../helpers.js';

const source = readFileSync(new URL('../../../js/types/uws.d.ts', import.meta.url), 'utf8');

/** The names of the members of an interface. */
function membersOf(name) {
  const begin = source.indexOf(`export interface ${name} {`);
  assert.notEqual(begin, -1, name);
  const body = source.slice(begin, source.indexOf('\n}\n', begin));
  const names = [...body.matchAll(/^ {2}(\w+)\??[(:]/gm)].map((found) => found[1]);
  return [...new Set(names)].sort();
}

function methodsOf(object) {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(object));
  return names.filter((name) => name !== 'constructor').sort();
}

test('the types of HttpResponse and HttpRequest name their methods', async (t) => {
  let methods;
  const server = serve(t, (app) =>
    app.get('/', (res, req) => {
      methods = [methodsOf(res), methodsOf(req)];
      res.end();
    }),
  );
  await ask(server, get('/'));
  assert.deepEqual(methods, [membersOf('HttpResponse'), membersOf('HttpRequest')]);
});

test('the types of an app and of its figures name what there is', () => {
  const app = millrace.App();
  assert.deepEqual(methodsOf(app), membersOf('TemplatedApp'));
  assert.deepEqual(Object.keys(app.stats()).sort(), membersOf('AppStats'));
  app.close();
});

test('every limit of the types is taken', () => {
  for (const name of membersOf('HttpLimits')) {
    millrace.App({ limits: { [name]: 100 } }).close();
  }
});

test('the types declare the exports', () => {
  const declared = [...source.matchAll(/^export (?:const|function|class) (\w+)/gm)];
  const names = declared.map((found) => found[1]).sort();
  assert.deepEqual(names, Object.keys(millrace.default).sort());
});
