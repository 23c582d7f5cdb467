// Where and with what a result was made.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

function readLine(path) {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

function git(...args) {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return null;
  }
}

export function describeMachine() {
  return {
    cpu: cpus()[0].model,
    cpus: cpus().length,
    memoryBytes: totalmem(),
    kernel: release(),
    clock: readLine('/sys/devices/system/clocksource/clocksource0/current_clocksource'),
    congestionControl: readLine('/proc/sys/net/ipv4/tcp_congestion_control'),
    somaxconn: readLine('/proc/sys/net/core/somaxconn'),
    commit: git('rev-parse', 'HEAD'),
    changed: git('status', '--porcelain', '--untracked-files=no') !== '',
    date: new Date().toISOString(),
  };
}
