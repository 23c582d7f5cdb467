// app.listen(port, callback), (port, options, callback), (host, port, callback),
// (host, port, options, callback).

import { toText } from '../shared/bytes.js';
import { makeRangeError, makeTypeError } from '../shared/errors.js';

export const LISTEN_DEFAULT = 0;
export const LISTEN_EXCLUSIVE_PORT = 1;
export const LISTEN_SHARED_PORT = 2;

const USAGE =
  'app.listen() expects (port[, options], callback) or (host, port[, options], callback)';
const PORT_MAX = 65535;

/** @param {unknown[]} values */
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
