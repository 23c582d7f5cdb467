// Command line of the demo server.
import { parseArgs } from 'node:util';

const usage = 'usage: serve [--port N] [--host H]';

/**
 * @param {string[]} args
 * @returns {{ host: string, port: number, error: string }} `error` is '' if all is well
 */
export function parseOptions(args) {
  const result = { host: '127.0.0.1', port: 3000, error: '' };
  try {
    const { values } = parseArgs({
      args,
      options: { port: { type: 'string' }, host: { type: 'string' } },
    });
    if (values.host !== undefined) result.host = values.host;
    if (values.port !== undefined) result.port = portFrom(values.port);
  } catch (error) {
    result.error = `${/** @type {Error} */ (error).message}\n${usage}`;
  }
  return result;
}

/** @param {string} text */
function portFrom(text) {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) {
    throw new Error(`--port must be a number from 0 to 65535, not "${text}"`);
  }
  return port;
}
