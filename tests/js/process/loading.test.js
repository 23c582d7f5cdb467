// Loading the module: more than once, by every way, and where its binary is looked for.

import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Program, get } from '../helpers.js';

const folder = fileURLToPath(new URL('../../../dist', import.meta.url));

/** The path of the binary that this process has loaded. */
function loadedBinary() {
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  return loaded.find((path) => path.endsWith('millrace.node'));
}

function temporaryFolder(t) {
  const made = mkdtempSync(join(tmpdir(), 'millrace-test-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test('import twice and require give one engine', async (t) => {
  const url = JSON.stringify(import.meta.resolve('millrace'));
  const program = new Program(
    t,
    `import { createRequire } from 'node:module';
    const again = await import(${url} + '?again');
    const required = createRequire(${url})('millrace');
    if (required.App !== App || millrace.default.App !== App || again.App !== App) tell('several');
    for (const one of [millrace, again, required]) {
      const app = one.App().get('/', (res) => res.end('ok')).listen('127.0.0.1', 0, tellPort);
      app.close();
    }`,
  );
  await program.told(/^(port \d+\n){3}/);
  await program.endsWell();
});

test('two copies of the package live side by side in one process', async (t) => {
  const { default: millrace } = await import('millrace');
  assert.ok(millrace.App);
  const binary = loadedBinary();
  const copy = temporaryFolder(t);
  cpSync(folder, join(copy, 'dist'), { recursive: true });
  copyFileSync(binary, join(copy, 'second.node'));
  const program = new Program(
    t,
    `process.env.MILLRACE_ADDON = ${JSON.stringify(join(copy, 'second.node'))};
    const other = await import(${JSON.stringify(join(copy, 'dist/esm/uws.js'))});
    const apps = [App(), other.App()];
    apps.forEach((app, index) => {
      app.get('/', (res) => res.end('copy ' + index)).get('/end', () => {
        for (const one of apps) one.close();
      });
    });
    apps[0].listen('127.0.0.1', 0, (token) => tell('first ' + us_socket_local_port(token)));
    apps[1].listen('127.0.0.1', 0, (token) => tell('port ' + other.us_socket_local_port(token)));`,
  );
  const second = await program.server(t);
  const client = await second.connect();
  client.send(get('/'));
  assert.equal((await client.response()).text, 'copy 1');
  client.send(get('/end'));
  await program.endsWell();
});

test('MILLRACE_ADDON names the binary, and no other is taken', async (t) => {
  const program = new Program(
    t,
    `process.env.MILLRACE_ADDON = '/nonexistent/millrace.node';
    const again = ${JSON.stringify(join(folder, 'esm/uws.js'))} + '?x';
    const error = await import(again).catch((e) => e);
    tell(error.message ?? 'loaded');`,
  );
  // This program has loaded the module before, so that only a fresh copy looks again.
  await program.told(/loaded/);
  const copy = temporaryFolder(t);
  cpSync(folder, join(copy, 'dist'), { recursive: true });
  const fresh = new Program(
    t,
    `process.env.MILLRACE_ADDON = '/nonexistent/millrace.node';
    const error = await import(${JSON.stringify(join(copy, 'dist/esm/uws.js'))}).catch((e) => e);
    tell(error.message);`,
  );
  await fresh.told(/millrace has no binary .*\n\s+\/nonexistent\/millrace\.node\n/);
  await fresh.endsWell();
});
