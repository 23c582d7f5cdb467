// The arguments of App() and of app.listen().

import { describe, makeRangeError, makeTypeError, toText } from '../shared/values.js';

/** Limits by name, with the smallest and the largest value that makes sense. */
const LIMITS = {
  headBytesMax: [64, 256 * 1024], // the memory for received bytes is of a fixed size
  fieldsMax: [1, 65535],
  chunkExtensionBytesMax: [0, 0xffffffff],
  trailerBytesMax: [0, 0xffffffff],
  chunkOverheadPercentMax: [0, 0xffffffff],
  bodyHoldBytesMax: [1, 0x7fffffff],
  bodyDiscardBytesMax: [0, 0xffffffff],
  pipelineMax: [1, 65535],
  headTimeoutMs: [1, 0x7fffffff],
  bodyIdleTimeoutMs: [1, 0x7fffffff],
  keepAliveTimeoutMs: [1, 0x7fffffff],
  writeStallTimeoutMs: [1, 0x7fffffff],
  lingerTimeoutMs: [1, 0x7fffffff],
};

function readLimits(limits) {
  if (limits === undefined) return {};
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits)) {
    throw makeTypeError(`App options.limits expects an object, not ${describe(limits)}`);
  }
  for (const [name, value] of Object.entries(limits)) {
    const range = Object.hasOwn(LIMITS, name) ? LIMITS[name] : undefined;
    if (range === undefined) throw makeTypeError(`App options.limits has no ${name}`);
    if (value === undefined) continue;
    if (!Number.isInteger(value) || value < range[0] || value > range[1]) {
      throw makeRangeError(
        `App options.limits.${name} expects an integer from ${range[0]} to ${range[1]}`,
      );
    }
  }
  return { ...limits };
}

function readFlag(options, name) {
  const value = options[name];
  if (value === undefined) return false;
  if (typeof value !== 'boolean') {
    throw makeTypeError(`App options.${name} expects a boolean, not ${describe(value)}`);
  }
  return value;
}

/** @param {any} options */
export function readAppOptions(options) {
  if (options === undefined) {
    return { limits: {}, automaticHead: false, methodNotAllowed: false };
  }
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw makeTypeError(`App(options?) expects an object, not ${describe(options)}`);
  }
  return {
    limits: readLimits(options.limits),
    automaticHead: readFlag(options, 'automaticHead'),
    methodNotAllowed: readFlag(options, 'methodNotAllowed'),
  };
}

// --- app.listen() -------------------------------------------------------------------------------
// (port[, options], callback) or (host, port[, options], callback)

export const LISTEN_DEFAULT = 0;
export const LISTEN_EXCLUSIVE_PORT = 1;
export const LISTEN_SHARED_PORT = 2;

const USAGE =
  'app.listen() expects (port[, options], callback) or (host, port[, options], callback)';
const PORT_MAX = 65535;

/** @param {any[]} values */
export function readListenArguments(values) {
  const callback = values.at(-1);
  if (values.length < 2 || values.length > 4 || typeof callback !== 'function') {
    throw makeTypeError(USAGE);
  }
  const rest = values.slice(0, -1);
  const host = typeof rest[0] === 'number' ? '' : toText(rest.shift(), USAGE);
  const [port, options = LISTEN_DEFAULT] = rest;
  if (rest.length === 0 || rest.length > 2 || typeof port !== 'number') {
    throw makeTypeError(USAGE);
  }
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) {
    throw makeRangeError(`app.listen() expects a port from 0 to ${PORT_MAX}, not ${port}`);
  }
  if (![LISTEN_DEFAULT, LISTEN_EXCLUSIVE_PORT, LISTEN_SHARED_PORT].includes(options)) {
    throw makeTypeError('app.listen() options must be 0, 1 (exclusive port) or 2 (shared port)');
  }
  return { host, port, isShared: options === LISTEN_SHARED_PORT, callback };
}
