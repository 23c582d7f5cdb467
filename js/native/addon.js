// The only loader of the .node file.

import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** Two folders up, here as in dist/cjs. */
const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Where the addon may lie: where the environment variable MILLRACE_ADDON says, and nowhere else;
 * without it, shipped with the package, or built in a checkout.
 */
const candidates = process.env.MILLRACE_ADDON
  ? [resolve(process.env.MILLRACE_ADDON)]
  : [
      `${root}prebuilds/${process.platform}-${process.arch}/millrace.node`,
      `${root}build/release/node/millrace.node`,
    ];

function load() {
  const path = candidates.find((candidate) => existsSync(candidate));
  if (path === undefined) {
    throw new Error(
      `millrace has no binary for ${process.platform}-${process.arch}; looked for\n  ` +
        `${candidates.join('\n  ')}\nIn a checkout, ./millrace serve builds it.`,
    );
  }
  return createRequire(import.meta.url)(path);
}

/** The functions of the addon; each is described beside its body in node/. */
export const native = load();
