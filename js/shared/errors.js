// Errors of the public API, each with a stable code.

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
