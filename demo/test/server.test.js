// The demo server as a process: its routes, its messages, its end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../server.js', import.meta.url));

/** @param {string[]} args */
function start(args) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const seen = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (seen.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (seen.err += text));
  return { child, seen };
}

/** @param {ReturnType<typeof start>} server @returns {Promise<string>} its address, without '/' */
async function addressOf({ child, seen }) {
  while (!/http:\S+\//.test(seen.out)) {
    const what = await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'close').then(() => 'end'),
    ]);
    if (what === 'end') throw new Error(`the server ended: ${seen.err}`);
  }
  return /** @type {RegExpExecArray} */ (/(http:\S+)\//.exec(seen.out))[1];
}

/** @type {ReturnType<typeof start>} */
let server;
let address = '';

before(async () => {
  server = start(['--port', '0']);
  address = await addressOf(server);
});

after(async () => {
  if (server.child.exitCode !== null) return;
  server.child.kill('SIGKILL');
  await once(server.child, 'close');
});

test('the page and its parts', async () => {
  for (const [path, type] of [
    ['/', 'text/html'],
    ['/page.css', 'text/css'],
    ['/page.js', 'text/javascript'],
  ]) {
    const response = await fetch(address + path);
    assert.equal(response.status, 200);
    assert.ok(response.headers.get('content-type')?.startsWith(type));
    assert.ok((await response.text()).length > 100);
  }
});

test('json, hello and what is not there', async () => {
  assert.deepEqual(await (await fetch(`${address}/json`)).json(), { ok: true });
  assert.equal(await (await fetch(`${address}/hello/a%20b`)).text(), 'Hello, a b\n');
  assert.equal(await (await fetch(`${address}/hello/%zz`)).text(), 'Hello, %zz\n');
  assert.equal((await fetch(`${address}/nowhere`)).status, 404);
});

test('echo answers with the body, and refuses one that is too large', async () => {
  const body = 'x'.repeat(300_000);
  const options = { method: 'POST', headers: { 'content-type': 'text/x-test' }, body };
  const response = await fetch(`${address}/echo`, options);
  assert.equal(response.headers.get('content-type'), 'text/x-test');
  assert.equal(await response.text(), body);
  const large = await fetch(`${address}/echo`, { method: 'POST', body: 'x'.repeat(1_100_000) });
  assert.equal(large.status, 413);
});

test('stats counts', async () => {
  /** @returns {Promise<any>} */
  const read = async () => (await fetch(`${address}/stats`)).json();
  const first = await read();
  const second = await read();
  assert.ok(second.engine.requests > first.engine.requests);
  assert.ok(second.engine.batches > first.engine.batches);
  assert.ok(second.engine.events >= second.engine.batches);
  assert.ok(second.engine.connections >= 1);
  assert.ok(second.process.residentBytes > 0);
});

test('a port in use is said so', async () => {
  const port = new URL(address).port;
  const { child, seen } = start(['--port', port]);
  const [status] = await once(child, 'close');
  assert.equal(status, 1);
  assert.match(seen.err, new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port}: it is in use`));
});

test('a wrong option is said so', async () => {
  const { child, seen } = start(['--port', 'x']);
  const [status] = await once(child, 'close');
  assert.equal(status, 2);
  assert.match(seen.err, /--port must be a number/);
});

test('it ends cleanly when asked to', async () => {
  server.child.kill('SIGTERM');
  const [status, signal] = await once(server.child, 'close');
  assert.deepEqual([status, signal], [0, null]);
  assert.match(server.seen.out, /stopped/);
});
