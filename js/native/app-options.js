// The options of App().

import { describe } from '../shared/bytes.js';
import { makeRangeError, makeTypeError } from '../shared/errors.js';

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

/** @param {unknown} options */
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
