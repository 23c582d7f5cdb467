// The demo's command line.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseOptions } from '../options.js';

test('defaults', () => {
  assert.deepEqual(parseOptions([]), { host: '127.0.0.1', port: 3000, error: '' });
});

test('both ways to write a value', () => {
  const expected = { host: '::1', port: 0, error: '' };
  assert.deepEqual(parseOptions(['--host', '::1', '--port=0']), expected);
});

for (const args of [['--port'], ['--port', '-1'], ['--port', '65536'], ['--port', '3000x']]) {
  test(`refused: ${args.join(' ')}`, () => assert.notEqual(parseOptions(args).error, ''));
}

for (const args of [['--prot', '1'], ['3000'], ['--port=1.5'], ['--port=']]) {
  test(`refused: ${args.join(' ')}`, () => assert.notEqual(parseOptions(args).error, ''));
}
