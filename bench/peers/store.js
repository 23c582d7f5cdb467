// What benchmarks need from npm, kept in build/bench-peers so that it is fetched once: other
// versions of Node, and uWebSockets.js. Only the files in use are kept.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { relaxFile } from './relax-glibc.mjs';

const run = promisify(execFile);
const storePath = fileURLToPath(new URL('../../build/bench-peers', import.meta.url));

/** Versions of Node that a benchmark can ask for, with the number of their module interface. */
export const nodeModuleVersions = { 20: 115, 22: 127, 24: 137, 26: 147 };

const uwsPackage = 'uwebsockets@3.0.6';

/**
 * Makes `name` in the store from an npm package, unless it is there. `keep(from, to)` copies what
 * is needed into the new folder, which appears under its name only when it is complete.
 */
async function ensureStored(name, packageSpec, keep) {
  const target = join(storePath, name);
  if (existsSync(target)) return target;
  mkdirSync(storePath, { recursive: true });
  const scratch = mkdtempSync(join(storePath, '.fetching-'));
  try {
    console.error(`fetching ${packageSpec} (once)`);
    const flags = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['install', ...flags, '--prefix', scratch, packageSpec]);
    const packageName = packageSpec.slice(0, packageSpec.lastIndexOf('@'));
    const kept = join(scratch, 'kept');
    mkdirSync(kept);
    keep(join(scratch, 'node_modules', packageName), kept);
    renameSync(kept, target);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return target;
}

/**
 * The executable of a version of Node: the running one if it is of that version.
 *
 * @param {string | number} major a key of nodeModuleVersions
 * @returns {Promise<string>} a path
 */
export async function ensureNode(major) {
  if (!(major in nodeModuleVersions)) throw new Error(`no benchmark on Node ${major}`);
  if (process.versions.node.split('.')[0] === String(major)) return process.execPath;
  const folder = await ensureStored(
    `node-${major}`,
    `node-linux-${process.arch}@${major}`,
    (from, to) => {
      copyFileSync(join(from, 'bin/node'), join(to, 'node'));
      copyFileSync(join(from, 'LICENSE'), join(to, 'LICENSE'));
      chmodSync(join(to, 'node'), 0o755);
    },
  );
  return join(folder, 'node');
}

/**
 * The entry file of uWebSockets.js. It loads on Node 20 as it is published; the binaries for later
 * versions have their needs from glibc relaxed.
 */
export async function ensureUws() {
  const folder = await ensureStored(uwsPackage.replace('@', '-'), uwsPackage, (from, to) => {
    const hashes = {};
    for (const version of [115, 127, 137]) {
      const file = `uws_linux_${process.arch}_${version}.node`;
      copyFileSync(join(from, file), join(to, file));
      hashes[file] = createHash('sha256')
        .update(readFileSync(join(to, file)))
        .digest('hex');
      relaxFile(join(to, file));
    }
    copyFileSync(join(from, 'LICENSE'), join(to, 'LICENSE'));
    writeFileSync(
      join(to, 'index.cjs'),
      'const { arch, versions } = process;\n' +
        'module.exports = require(`./uws_linux_${arch}_${versions.modules}.node`);\n',
    );
    const origin = { package: uwsPackage, sha256BeforeRelaxing: hashes };
    writeFileSync(join(to, 'origin.json'), JSON.stringify(origin, null, 2));
  });
  return join(folder, 'index.cjs');
}

/** What is known about the origin of the file that ensureUws() returned. */
export function readOrigin(entryPath) {
  if (!entryPath) return null;
  const path = join(dirname(entryPath), 'origin.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}
