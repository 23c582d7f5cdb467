import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { checkDateMoves, checkServer, diffHeaders } from './conformance.js';
import { compareBy, rateMetric, rowOf } from './metrics.js';
import { findNoise } from './noise.js';
import { readOptions } from './options.js';
import { describeDiscards, describeLimits } from './report.js';
import { keepQuiet, planBlock, splitBlocks } from './session.js';
import { formatTable } from './table.js';

async function withServer(listener, work) {
  const server = createServer(listener);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work({ name: 'peer', port: server.address().port });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function answerWith({ status = 200, type = 'application/json', body = '{"ok":true}', more = {} }) {
  return (_req, res) => {
    res.writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      ...more,
    });
    res.end(body);
  };
}

test('a server that answers well passes', async () => {
  await withServer(answerWith({ more: { uWebSockets: '20' } }), async (server) => {
    const check = await checkServer(server, { mustHave: ['uWebSockets'] });
    assert.equal(check.headers['content-type'], 'application/json');
    assert.ok(check.bytes > 100);
  });
});

test('wrong answers are found before anything is measured', async () => {
  const wrong = [
    [{ status: 500 }, /status line HTTP\/1.1 500/],
    [{ body: '{"ok":false}' }, /body {"ok":false}/],
    [{ type: 'text/plain' }, /content-type text\/plain/],
    [{}, /uWebSockets/],
  ];
  for (const [answer, message] of wrong) {
    await withServer(answerWith(answer), async (server) => {
      await assert.rejects(checkServer(server, { mustHave: ['uWebSockets'] }), message);
    });
  }
});

test('a server that fails only later is found', async () => {
  let count = 0;
  const listener = (req, res) => answerWith({ status: ++count > 5 ? 500 : 200 })(req, res);
  await withServer(listener, async (server) => {
    await assert.rejects(checkServer(server), /500/);
  });
});

test('a Date that stands still is found', () => {
  const at = (date, atMs) => ({ headers: { date }, atMs });
  const server = { name: 'peer' };
  assert.throws(() => checkDateMoves(server, at('a', 0), at('a', 3000)), /stands still/);
  checkDateMoves(server, at('a', 0), at('b', 3000));
  checkDateMoves(server, at('a', 0), at('a', 500));
});

test('header differences', () => {
  const one = { headers: { date: '', a: '' } };
  const other = { headers: { date: '', b: '' } };
  assert.deepEqual(diffHeaders(one, other), { onlyFirst: ['a'], onlySecond: ['b'] });
});

test('blocks are ABBA and BAAB in turn', () => {
  assert.deepEqual(planBlock(0, ['ceiling']), [
    'ceiling',
    'candidate',
    'reference',
    'reference',
    'candidate',
  ]);
  assert.deepEqual(planBlock(1, ['ceiling', 'hello']), [
    'reference',
    'candidate',
    'candidate',
    'reference',
    'hello',
    'ceiling',
  ]);
});

test('blocks are spread over restarts', () => {
  assert.deepEqual(splitBlocks(10, 3), [4, 3, 3]);
  assert.deepEqual(splitBlocks(4, 2), [2, 2]);
  assert.deepEqual(splitBlocks(1, 3), [1]);
});

test('noisy blocks are dropped and counted', () => {
  const quiet = { noise: [] };
  const noisy = { noise: ['steal', 'foreign'] };
  const kept = keepQuiet([quiet, noisy, quiet, quiet]);
  assert.equal(kept.blocks.length, 3);
  assert.equal(kept.busy, false);
  assert.deepEqual(kept.reasons, { steal: 1, foreign: 1 });
  assert.match(describeDiscards(kept), /4 blocks measured, 1 noisy .*steal 1, foreign 1.*3 kept/);
});

test('results of a busy machine are marked', () => {
  const kept = keepQuiet([{ noise: ['foreign'] }, { noise: ['foreign'] }]);
  assert.equal(kept.blocks.length, 2);
  assert.match(describeDiscards(kept), /THE MACHINE WAS BUSY/);
});

test('the rules for noise', () => {
  const report = (machine) => ({
    window_s: 2,
    server: { cpu_s: 1.9 },
    client: { cpu_s: 1.0 },
    machine,
  });
  const cpus = { serverCpu: 0, loadCpu: 1 };
  const cpu = (number, busy, steal = 0) => ({ cpu: number, busy_s: busy, steal_s: steal });
  assert.equal(findNoise(report([cpu(0, 1.95), cpu(1, 1.1)]), cpus), null);
  assert.equal(findNoise(report([cpu(0, 1.95), cpu(1, 1.3)]), cpus), 'foreign');
  assert.equal(findNoise(report([cpu(0, 1.9, 0.05), cpu(1, 1)]), cpus), 'steal');
});

function block(candidate, reference, restart = 0) {
  const slice = (rate) => ({ report: { lanes: [{ name: 'main', requests_per_s: rate }] } });
  return {
    restart,
    slices: { candidate: candidate.map(slice), reference: reference.map(slice) },
  };
}

test('a block gives the pair of the means of its slices', () => {
  const metric = rateMetric('main', 'rate');
  const row = compareBy(metric, [block([100, 120], [90, 110]), block([120, 120], [100, 100])]);
  assert.equal(row.candidate, 115);
  assert.equal(row.reference, 100);
  assert.ok(Math.abs(row.ratio - 1.15) < 1e-12);
  assert.equal(row.wins, 2);
  assert.equal(row.p, 0.5);
  assert.deepEqual(rowOf(row).slice(0, 4), ['rate', '115', '100', '1.150']);
});

test('a metric that one side does not have is not compared', () => {
  const metric = { label: 'heap', format: String, better: 'lower', read: () => undefined };
  const row = compareBy(metric, [block([1, 1], [1, 1])]);
  assert.deepEqual(rowOf(row), ['heap', '-', '-']);
});

test('notes name the side that was not the limit', () => {
  const notes = describeLimits([
    { name: 'a', client: 0.9, server: 0.9 },
    { name: 'b', client: 0.5, server: 0.5 },
    { name: 'c', client: 0.5, server: 0.99 },
  ]);
  assert.equal(notes.length, 2);
  assert.match(notes[0], /^a: the client's core was 90 %/);
  assert.match(notes[1], /^b: the server's core was only 50 %/);
});

test('tables are aligned', () => {
  assert.equal(
    formatTable([
      ['', 'a', 'bb'],
      ['rate', '1', '2'],
      ['x', '100'],
    ]),
    '        a  bb\n-------------\nrate    1   2\nx     100',
  );
});

test('options', () => {
  const options = readOptions(['raw', '--depth', '10,1', '--node', '22', '--quick']);
  assert.deepEqual(options.depths, [10, 1]);
  assert.equal(options.pairs, 4);
  assert.equal(options.connections, 100);
  assert.equal(readOptions(['idle']).connections, 10_000);
  assert.equal(readOptions(['raw', '--pairs', '3', '--duration', '0.5']).duration, 0.5);
  assert.deepEqual(readOptions(['--help']), { help: true });
  assert.throws(() => readOptions(['raw', '--depth', '0']), /--depth 0/);
  assert.throws(() => readOptions(['raw', '--pairs', 'x']), /--pairs x/);
  assert.throws(() => readOptions(['raw', 'mixed']), /too many words/);
  assert.throws(() => readOptions(['raw', '--surprise']), /surprise/);
});
