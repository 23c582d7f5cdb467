// The order in which slices are measured.
//
// All servers of a comparison are up at once; an idle one costs nothing. A block is ABBA or BAAB,
// so that a linear drift of the machine cancels out, and gives one pair. Blocks lie in several
// restarts of all processes, because what the JIT and the allocator did differs more between
// processes than within one. Sides that are not compared (the ceiling) have a slice in each block.

import { checkDateMoves, checkServer } from './conformance.js';
import { runLoad } from './load.js';
import { findNoise } from './noise.js';

/** Splits `total` blocks over `restarts`, as evenly as possible; no restart is empty. */
export function splitBlocks(total, restarts) {
  const count = Math.min(total, restarts);
  return Array.from(
    { length: count },
    (_, i) => Math.floor(total / count) + (i < total % count ? 1 : 0),
  );
}

/** The sides of block number `block`, in order of measurement. */
export function planBlock(block, singles) {
  const forward = block % 2 === 0;
  const [a, b] = forward ? ['candidate', 'reference'] : ['reference', 'candidate'];
  return forward ? [...singles, a, b, b, a] : [a, b, b, a, ...singles.toReversed()];
}

/** Starts all sides for the time of `work`. */
async function withServers(sides, work) {
  const servers = {};
  try {
    for (const [role, side] of Object.entries(sides)) servers[role] = await side.start();
    return await work(servers);
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
  }
}

async function checkAll(sides, servers, paths) {
  const checks = {};
  for (const [role, server] of Object.entries(servers)) {
    for (const path of paths[role] ?? paths.all) {
      checks[role] = await checkServer(server, { path, mustHave: sides[role].mustHave });
    }
  }
  return checks;
}

async function measureSlice(server, plan) {
  await server.reset();
  const report = await runLoad(plan.loadProgram, {
    ...plan.load,
    port: server.port,
    pid: server.pid,
    cpu: plan.loadCpu,
    ...(plan.loadOf?.(server) ?? {}),
  });
  if (report.errors.total > 0) {
    throw new Error(`${server.name}: errors under load: ${JSON.stringify(report.errors)}`);
  }
  return { report, snapshot: await server.snapshot(), noise: findNoise(report, plan) };
}

async function measureBlock(servers, order, plan) {
  const slices = {};
  for (const role of order) {
    slices[role] ??= [];
    slices[role].push(await measureSlice(servers[role], plan));
  }
  const noise = Object.values(slices).flatMap((list) => list.map((slice) => slice.noise));
  return { order, slices, noise: noise.filter(Boolean) };
}

async function warmUp(servers, plan) {
  if (plan.warmup === 0) return;
  for (const server of Object.values(servers)) {
    await measureSlice(server, { ...plan, load: { ...plan.load, duration: plan.warmup } });
  }
}

async function measureRestart(servers, restart, wanted, plan, blocks) {
  const checks = await checkAll(plan.sides, servers, plan.paths);
  await warmUp(servers, plan);
  const singles = Object.keys(plan.sides).filter((r) => r !== 'candidate' && r !== 'reference');
  let good = 0;
  for (let attempt = 0; attempt < wanted * plan.attempts && good < wanted; attempt++) {
    const order = planBlock(blocks.length, singles);
    const block = { restart, ...(await measureBlock(servers, order, plan)) };
    blocks.push(block);
    if (block.noise.length === 0) good++;
    plan.log?.(block, blocks.length);
  }
  const later = await checkAll(plan.sides, servers, plan.paths);
  for (const [role, server] of Object.entries(servers)) {
    checkDateMoves(server, checks[role], later[role]);
  }
  return checks;
}

/**
 * Measures a comparison.
 *
 * @param {object} plan
 * @param {Record<string, object>} plan.sides `candidate`, `reference`, and others to look at
 * @param {number} plan.pairs blocks wanted
 * @param {number} plan.restarts
 * @param {number} plan.attempts measures so many times `pairs` to make up for noisy blocks
 * @param {number} plan.warmup seconds, of each server after its start
 * @param {object} plan.load options of millrace-load
 * @param {Record<string, string[]>} plan.paths what to check, by role, `all` for the others
 * @returns the blocks kept, and what was discarded
 */
export async function measurePairs(plan) {
  const blocks = [];
  let checks;
  let versions;
  for (const [restart, wanted] of splitBlocks(plan.pairs, plan.restarts).entries()) {
    await withServers(plan.sides, async (servers) => {
      versions = servers.candidate.versions;
      checks = await measureRestart(servers, restart, wanted, plan, blocks);
    });
  }
  return { ...keepQuiet(blocks), checks, versions };
}

/** Keeps the blocks without noise; all, marked as busy, if those are too few to say anything. */
export function keepQuiet(blocks) {
  const quiet = blocks.filter((block) => block.noise.length === 0);
  const reasons = {};
  for (const reason of blocks.flatMap((block) => block.noise)) {
    reasons[reason] = (reasons[reason] ?? 0) + 1;
  }
  const busy = quiet.length * 2 < blocks.length && quiet.length < 3;
  return {
    blocks: busy ? blocks : quiet,
    measured: blocks.length,
    quiet: quiet.length,
    reasons,
    busy,
  };
}
