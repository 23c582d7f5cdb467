// What the API takes for text and data: a string, an ArrayBuffer, a SharedArrayBuffer, or a view;
// and its errors, each with a stable code.

import { types } from 'node:util';

/**
 * @param {string} code
 * @param {string} message
 * @returns {Error & {code: string}}
 */
export function makeError(code, message) {
  return Object.assign(new Error(message), { code });
}

/**
 * @param {string} message
 * @returns {TypeError & {code: string}}
 */
export function makeTypeError(message) {
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_TYPE' });
}

/**
 * @param {string} message
 * @returns {RangeError & {code: string}}
 */
export function makeRangeError(message) {
  return Object.assign(new RangeError(message), { code: 'ERR_OUT_OF_RANGE' });
}

/**
 * Takes the way to a class from its objects: nobody but the engine may make one, since it stands
 * for a request of somebody.
 *
 * @param {Function} made
 */
export function hideConstructor(made) {
  const { name } = made;
  const refuse = {
    [name]() {
      throw makeTypeError(`${name}: only the engine makes one`);
    },
  };
  Object.defineProperty(made.prototype, 'constructor', { value: refuse[name] });
}

/**
 * The value as C++ reads it: strings, views and ArrayBuffers as they are, what is shared with other
 * threads as a copy.
 *
 * @param {unknown} value
 * @param {string} what for the error, e.g. 'res.end(body)'
 */
export function toBytes(value, what) {
  if (typeof value === 'string') return value;
  if (ArrayBuffer.isView(value)) {
    if (!types.isSharedArrayBuffer(value.buffer)) return value;
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  }
  if (types.isArrayBuffer(value)) return value;
  if (types.isSharedArrayBuffer(value)) return new Uint8Array(value).slice();
  if (value === undefined) return '';
  throw makeTypeError(
    `${what} expects a string, an ArrayBuffer or a view of one, not ${describe(value)}`,
  );
}

/**
 * The value as text.
 *
 * @param {unknown} value
 * @param {string} what for the error
 * @returns {string}
 */
export function toText(value, what) {
  if (typeof value === 'string') return value;
  const bytes = toBytes(value, what);
  if (typeof bytes === 'string') return bytes;
  if (bytes.byteLength === 0) return ''; // it may be detached, which Buffer does not take
  return ArrayBuffer.isView(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
    : Buffer.from(bytes).toString();
}

/** @param {unknown} value */
export function describe(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
