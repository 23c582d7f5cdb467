// node bench/main.js raw|idle|mixed [options]: see --help.

import { runIdle } from './harness/idle.js';
import { runMixed } from './harness/mixed.js';
import { helpText, readOptions } from './harness/options.js';
import { runRaw } from './harness/raw.js';

const commands = { raw: runRaw, idle: runIdle, mixed: runMixed };

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(helpText);
  const command = commands[options.command];
  if (!command) throw new Error(`no benchmark named ${options.command}\n${helpText}`);
  await command(options);
}

try {
  await main();
} catch (error) {
  console.error(process.env.MILLRACE_DEBUG ? error : `bench: ${error.message}`);
  process.exitCode = 1;
}
process.exit();
