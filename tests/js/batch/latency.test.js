// Slow handlers keep their neighbours' latency: answers leave before a slow handler runs.
// The server is a program of its own, whose slow handler blocks until it is told to go on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Program, get } from '../helpers.js';

const source = `
import { readSync } from 'node:fs';
const spin = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
const doze = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const waitForInput = () => {
  for (;;) {
    try {
      return readSync(0, Buffer.alloc(1));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      doze(1);
    }
  }
};
let count = 0;
App()
  .get('/fast', (res) => res.end('fast'))
  .get('/slow', (res) => { spin(3); res.end('slow'); })
  .get('/block', (res) => {
    spin(3);
    tell('blocked ' + ++count);
    waitForInput();
    res.end('unblocked');
  })
  .get('/throw', () => { spin(3); throw new Error('slow and wrong'); })
  .listen('127.0.0.1', 0, tellPort);
process.on('uncaughtException', () => {});
`;

/** The program, whose slow routes have been found out to be slow. */
async function start(t) {
  const program = new Program(t, source);
  const server = await program.server(t);
  const client = await server.connect();
  for (let round = 0; round < 12; round++) {
    client.send(get('/slow'));
    assert.equal((await client.response()).text, 'slow');
  }
  for (let round = 1; round <= 12; round++) {
    client.send(get('/block'));
    await program.told(new RegExp(`blocked ${round}\\n`));
    program.child.stdin.write('x');
    assert.equal((await client.response()).text, 'unblocked');
  }
  return { program, server, client };
}

test('answers that came before a slow handler in the batch leave before it', async (t) => {
  const { program, server, client } = await start(t);
  const other = await server.connect();
  other.send(get('/fast'));
  assert.equal((await other.response()).text, 'fast');
  client.send(get('/fast') + get('/fast') + get('/block') + get('/fast'));
  await program.told(/blocked 13/);
  for (let count = 0; count < 2; count++) assert.equal((await client.response()).text, 'fast');
  assert.equal(client.receivedBytes, 0);
  program.child.stdin.write('x');
  assert.equal((await client.response()).text, 'unblocked');
  assert.equal((await client.response()).text, 'fast');
});

test('slow requests of one read are answered one by one', async (t) => {
  const { program, client } = await start(t);
  client.send(get('/block').repeat(3));
  for (let count = 0; count < 3; count++) {
    await program.told(new RegExp(`blocked ${13 + count}`));
    program.child.stdin.write('x');
    assert.equal((await client.response()).text, 'unblocked');
  }
});

test('a slow handler among many connections delays nobody who was handled before it', async (t) => {
  const { program, server } = await start(t);
  const clients = await Promise.all(Array.from({ length: 10 }, () => server.connect()));
  for (const client of clients) client.send(get('/fast') + get('/block'));
  for (let count = 0; count < clients.length; count++) {
    await program.told(new RegExp(`blocked ${13 + count}`));
    const answered = clients.filter((client) => client.receivedBytes > 0);
    assert.ok(answered.length >= count);
    program.child.stdin.write('x');
  }
  for (const client of clients) {
    assert.equal((await client.response()).text, 'fast');
    assert.equal((await client.response()).text, 'unblocked');
  }
});

test('slow handlers that throw leave their batches like others', async (t) => {
  const { program, server, client } = await start(t);
  const throwers = await Promise.all(Array.from({ length: 5 }, () => server.connect()));
  for (const thrower of throwers) thrower.send(get('/fast') + get('/throw'));
  client.send(get('/fast') + get('/block'));
  await program.told(/blocked 13/);
  assert.equal((await client.response()).text, 'fast');
  program.child.stdin.write('x');
  assert.equal((await client.response()).text, 'unblocked');
  for (const thrower of throwers) {
    assert.equal((await thrower.response()).text, 'fast');
    assert.equal((await thrower.response()).status, 500);
  }
});
