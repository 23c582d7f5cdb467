// Random calls: whatever the program does, the process lives, and what arrives is well-formed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Program, get, post, random } from '../helpers.js';

const serverUrl = JSON.stringify(new URL('./monkey-server.js', import.meta.url).href);

/** One connection: sends requests, reads what comes until it ends or the answers are there. */
async function play(server, number) {
  const client = await server.connect();
  const count = 1 + number(6);
  let wire = '';
  for (let index = 0; index < count; index++) {
    const path = `/${number(20)}/${number(5)}?q=${number(9)}`;
    wire += number(3) === 0 ? post(path, 'b'.repeat(number(60_000))) : get(path);
  }
  client.send(wire);
  if (number(8) === 0) {
    client.reset();
    return 0;
  }
  if (number(3) === 0) client.end();
  let answers = 0;
  try {
    while (answers < count) {
      const answer = await client.response();
      if (answer.status >= 200) answers++;
    }
  } catch (error) {
    // A connection may be cut off in the midst of an answer, but nothing malformed may come.
    if (error.code === 'ERR_ASSERTION' || /too late/.test(error.message)) throw error;
    assert.match(error.message, /the connection ended before/);
  }
  client.socket.destroy();
  return answers;
}

for (const seed of [1, 22, 333, 4444, 55_555]) {
  test(`the server survives random calls (${seed})`, async (t) => {
    const program = new Program(
      t,
      `const { startMonkey } = await import(${serverUrl});
      startMonkey(${seed}, tell);`,
      ['--no-warnings'],
    );
    const server = await program.server(t);
    const number = random(seed + 1);
    let answers = 0;
    const peer = async () => {
      for (let round = 0; round < 25; round++) {
        const count = await play(server, number);
        answers += count;
      }
    };
    await Promise.all(Array.from({ length: 12 }, peer));
    assert.ok(answers > 100, `only ${answers} answers`);
    const client = await server.connect();
    client.send(get('/stop'));
    assert.equal((await client.response()).text, 'stopping');
    await program.endsWell();
    assert.doesNotMatch(program.stdout, /FAULT/);
  });
}
