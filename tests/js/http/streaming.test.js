// Large answers to slow readers: every byte, in order, with bounded memory where promised.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { deferred, eventually, get, pattern, serve, turns } from '../helpers.js';

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');
const MEGABYTE = 1024 * 1024;

/** Reads in small steps with pauses between them, so that the server meets a full socket. */
async function readSlowly(client, steps = 20) {
  for (let step = 0; step < steps; step++) {
    client.socket.resume();
    await turns(1);
    client.socket.pause();
    await turns(3);
  }
  client.socket.resume();
}

async function slowDigest(server, wire) {
  const client = await server.connect({ isPaused: true });
  client.send(wire);
  await turns(20);
  const answer = client.response();
  await readSlowly(client);
  const { body, status } = await answer;
  assert.equal(status, 200);
  return { digest: digest(body), bytes: body.length, client };
}

const source = pattern(32 * MEGABYTE);

test('write() that waits for onWritable is byte-exact', async (t) => {
  const chunk = 65_536;
  let signals = 0;
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      let sent = 0;
      res.onAborted(() => {});
      const pump = () => {
        while (sent < source.length) {
          const isTaken = res.write(source.subarray(sent, sent + chunk));
          sent += chunk;
          assert.equal(res.getWriteOffset(), sent);
          if (!isTaken) return false;
        }
        res.end();
        return true;
      };
      res.onWritable((offset) => {
        signals++;
        assert.equal(offset, sent);
        return pump();
      });
      pump();
    }),
  );
  const read = await slowDigest(server, get('/'));
  assert.deepEqual([read.bytes, read.digest], [source.length, digest(source)]);
  assert.ok(signals > 0, 'the socket was full at least once');
});

test('write() that ignores false is byte-exact, the rest is queued', async (t) => {
  let refusals = 0;
  let queued = 0;
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      res.onAborted(() => {});
      for (let at = 0; at < source.length; at += 99_991) {
        if (!res.write(source.subarray(at, at + 99_991))) refusals++;
      }
      queued = res.getBufferedAmount();
      res.end();
    }),
  );
  const read = await slowDigest(server, get('/'));
  assert.deepEqual([read.bytes, read.digest], [source.length, digest(source)]);
  assert.ok(refusals > 0 && queued > 0);
});

test('a write() that was refused reaches the peer with no further call', async (t) => {
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      res.onAborted(() => {});
      res.onWritable(() => true);
      while (res.write(source.subarray(0, MEGABYTE)));
      res.write('the last piece');
    }),
  );
  const client = await server.connect({ isPaused: true });
  client.send(get('/'));
  await turns(20);
  client.socket.resume();
  await client.until(() => client.received.subarray(-40).includes('the last piece'), 'the end');
});

test('tryEnd() that goes on from its offset is byte-exact, and queues nothing', async (t) => {
  let signals = 0;
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      res.onAborted(() => {});
      const [isTaken, isDone] = res.tryEnd(source, source.length);
      assert.deepEqual([isTaken, isDone], [false, false]);
      assert.ok(res.getBufferedAmount() < 1000, 'body bytes are not queued');
      res.onWritable((offset) => {
        signals++;
        assert.equal(offset, res.getWriteOffset());
        return res.tryEnd(source.subarray(offset), source.length)[0];
      });
    }),
  );
  const read = await slowDigest(server, get('/'));
  assert.deepEqual([read.bytes, read.digest], [source.length, digest(source)]);
  assert.ok(signals > 0);
});

test('tryEnd() in pieces is byte-exact', async (t) => {
  const piece = 300_000;
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      res.onAborted(() => {});
      const pump = () => {
        for (;;) {
          const offset = res.getWriteOffset();
          const [isTaken, isDone] = res.tryEnd(
            source.subarray(offset, offset + piece),
            source.length,
          );
          if (isDone) return true;
          if (!isTaken) return false;
        }
      };
      res.onWritable(pump);
      pump();
    }),
  );
  const read = await slowDigest(server, get('/'));
  assert.deepEqual([read.bytes, read.digest], [source.length, digest(source)]);
});

test('end() of much is byte-exact, and the connection goes on', async (t) => {
  const server = serve(t, (app) => {
    app.get('/', (res) => res.end(source));
    app.get('/next', (res) => res.end('next'));
  });
  const read = await slowDigest(server, get('/') + get('/next'));
  assert.deepEqual([read.bytes, read.digest], [source.length, digest(source)]);
  assert.equal((await read.client.response()).text, 'next');
});

test('end() of much with close is byte-exact', async (t) => {
  const server = serve(t, (app) => app.get('/', (res) => res.end(source, true)));
  const read = await slowDigest(server, get('/'));
  assert.deepEqual([read.bytes, read.digest], [source.length, digest(source)]);
  assert.equal(await read.client.rest(), '');
});

test('much text is byte-exact', async (t) => {
  const text = '\u00e9\u4e2d\ud83d\ude00x'.repeat(500_000);
  const server = serve(t, (app) => app.get('/', (res) => res.end(text)));
  const read = await slowDigest(server, get('/'));
  assert.equal(read.digest, digest(Buffer.from(text)));
});

test('large answers to pipelined requests keep order and bytes', async (t) => {
  const server = serve(t, (app) =>
    app.get('/:size', (res, req) => {
      const body = source.subarray(0, Number(req.getParameter(0)));
      res.onAborted(() => {});
      setTimeout(() => res.end(body), body.length % 7);
    }),
  );
  const client = await server.connect({ isPaused: true });
  const sizes = [5 * MEGABYTE, 3, 70_001, 2 * MEGABYTE + 1, 16_385, 16_384, 0, 1_000_003];
  client.send(sizes.map((size) => get(`/${size}`)).join(''));
  await turns(30);
  const reading = (async () => {
    for (const size of sizes) {
      const { body } = await client.response();
      assert.equal(digest(body), digest(source.subarray(0, size)));
    }
  })();
  await readSlowly(client);
  await reading;
});

test('onWritable that is registered after the queue was taken is told at once', async (t) => {
  const told = deferred();
  let pending;
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      pending = res;
      res.onAborted(() => {});
      while (res.write(source.subarray(0, MEGABYTE)));
    }),
  );
  const client = await server.connect();
  client.send(get('/'));
  await eventually(() => pending?.getBufferedAmount() === 0, 'the queue to be taken');
  await turns();
  pending.onWritable((offset) => {
    told.resolve(offset);
    pending.end();
    return true;
  });
  assert.equal((await told.promise) % MEGABYTE, 0);
  await client.response();
});

test('the last of several onWritable functions is called', async (t) => {
  const calls = [];
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      res.onAborted(() => {});
      res.onWritable(() => calls.push('first'));
      res.onWritable(() => {
        calls.push('second');
        res.end();
        return true;
      });
      while (res.write(source.subarray(0, MEGABYTE)));
    }),
  );
  const client = await server.connect();
  client.send(get('/'));
  await client.response();
  assert.deepEqual(calls, ['second']);
});

test('a stream of events goes on until its reader leaves, which is told once', async (t) => {
  let events = 0;
  let aborts = 0;
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      const timer = setInterval(() => {
        events++;
        res.cork(() => res.write(`data: ${events}\n\n`));
      }, 1);
      res.onAborted(() => {
        aborts++;
        clearInterval(timer);
      });
      res.writeHeader('content-type', 'text/event-stream').beginWrite();
    }),
  );
  const client = await server.connect();
  client.send(get('/'));
  await client.until(() => client.text.includes('data: 5'), 'five events');
  client.socket.destroy();
  await eventually(() => aborts > 0, 'the abort');
  const seen = events;
  await turns(20);
  assert.deepEqual([aborts, events], [1, seen]);
});

test('the head of beginWrite() leaves before the first piece of the body', async (t) => {
  let pending;
  const server = serve(t, (app) =>
    app.get('/', (res) => {
      pending = res;
      res.onAborted(() => {});
      res.writeStatus('202').beginWrite();
    }),
  );
  const client = await server.connect();
  client.send(get('/'));
  await client.until(() => client.text.includes('\r\n\r\n'), 'the head');
  pending.end('late body');
  const answer = await client.response();
  assert.deepEqual([answer.status, answer.text], [202, 'late body']);
});
