// Every program of examples/js runs and does what its comment says.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../../examples/js/', import.meta.url));

/** Starts an example on a free port; gives its address. */
async function start(t, name) {
  const child = spawn(process.execPath, [folder + name, '0'], { stdio: ['ignore', 'pipe', 2] });
  t.after(async () => {
    child.kill();
    await once(child, 'exit');
  });
  const [line] = await once(child.stdout, 'data');
  return `http://127.0.0.1:${/listening on (\d+)/.exec(String(line))[1]}`;
}

const examples = {
  'hello.js': async (address) => {
    const response = await fetch(`${address}/`);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.deepEqual(await response.json(), { ok: true });
  },
  'upload.js': async (address) => {
    const body = new Uint8Array(3_000_000);
    const response = await fetch(`${address}/upload`, { method: 'POST', body });
    assert.equal(await response.text(), '3000000 bytes\n');
  },
};

test('every example has a test', () => {
  assert.deepEqual(readdirSync(folder).sort(), Object.keys(examples).sort());
});

for (const [name, check] of Object.entries(examples)) {
  test(`examples/js/${name}`, async (t) => check(await start(t, name)));
}
