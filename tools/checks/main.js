// Runs the checks of this folder over the checkout; prints "file:line: message (rule)" for each
// problem.
import process from 'node:process';

import { checkComments } from './comments.js';
import { checkDeadFiles } from './dead-files.js';
import { checkDocuments } from './documents.js';
import { applyExceptions } from './exceptions.js';
import { checkHeaders } from './headers.js';
import { checkLayers } from './layers.js';
import { checkSizes } from './sizes.js';
import { checkClangFormat, checkEslint, checkPrettier, checkTidy, checkTypes } from './tools.js';
import { fixFormat } from './tools.js';
import { checkoutTree } from './tree.js';
import { checkViews } from './views.js';

/** @import { Problem, Tree } from './tree.js' */

/** @type {Record<string, (tree: Tree) => Problem[] | Promise<Problem[]>>} */
const checks = {
  headers: checkHeaders,
  eslint: checkEslint,
  'clang-format': checkClangFormat,
  prettier: checkPrettier,
  types: checkTypes,
  layers: checkLayers,
  sizes: checkSizes,
  comments: checkComments,
  'dead-files': checkDeadFiles,
  views: checkViews,
  documents: checkDocuments,
};

/** @param {string[]} args */
function parseArguments(args) {
  const names = args.filter((arg) => !arg.startsWith('--'));
  const options = args.filter((arg) => arg.startsWith('--'));
  for (const option of options) {
    if (option !== '--fix' && option !== '--tidy') throw new Error(`unknown option ${option}`);
  }
  for (const name of names) {
    if (!(name in checks)) {
      throw new Error(`unknown check ${name}; there are ${Object.keys(checks).join(', ')}`);
    }
  }
  return { names, fix: options.includes('--fix'), tidy: options.includes('--tidy') };
}

/** @param {Problem[]} problems */
function print(problems) {
  problems.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  for (const { file, line, message, rule } of problems) {
    console.log(`${file}:${line}: ${message} (${rule})`);
  }
}

async function main() {
  const { names, fix, tidy } = parseArguments(process.argv.slice(2));
  const tree = checkoutTree(process.cwd());
  if (fix) await fixFormat(tree);
  const chosen = names.length > 0 ? names : Object.keys(checks);
  const runs = chosen.map((name) => checks[name](tree));
  if (tidy) runs.push(checkTidy(tree));
  const found = (await Promise.all(runs)).flat();
  const problems = applyExceptions(tree, found, new Date(), names.length === 0);
  print(problems);
  const verdict = problems.length === 0 ? 'all is well' : `${problems.length} problems`;
  console.log(`tools/check: ${runs.length} checks, ${tree.files.length} files: ${verdict}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

await main();
