// What a server must answer before any number of it counts.

import { once } from 'node:events';
import { connect } from 'node:net';

const patienceMs = 5000;

function parseResponse(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [statusLine, ...lines] = bytes.slice(0, end).split('\r\n');
  const headers = new Map();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const length = Number(headers.get('content-length'));
  if (!Number.isInteger(length)) throw new Error('the answer has no content-length');
  const size = end + 4 + length;
  if (bytes.length < size) return null;
  return { statusLine, headers, body: bytes.slice(end + 4, size), size };
}

/** Sends `count` pipelined requests and returns the responses. */
async function ask(port, path, count) {
  const socket = connect(port, '127.0.0.1');
  const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), patienceMs);
  try {
    await once(socket, 'connect');
    const lines = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Connection: keep-alive'];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`.repeat(count));
    const responses = [];
    let bytes = '';
    for await (const chunk of socket) {
      bytes += chunk.toString('latin1');
      for (let one = parseResponse(bytes); one; one = parseResponse(bytes)) {
        responses.push(one);
        bytes = bytes.slice(one.size);
      }
      if (responses.length >= count) break;
    }
    if (responses.length !== count || bytes !== '') {
      throw new Error(
        `${count} requests had ${responses.length} answers and ${bytes.length} bytes`,
      );
    }
    return responses;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function findFault({ statusLine, headers, body }, mustHave) {
  if (!/^HTTP\/1\.1 200 /.test(statusLine)) return `status line ${statusLine}`;
  if (headers.get('content-type') !== 'application/json') {
    return `content-type ${headers.get('content-type')}`;
  }
  if (body !== '{"ok":true}') return `body ${body}`;
  return mustHave.find((name) => !headers.has(name.toLowerCase()));
}

async function askAll({ name, port }, path) {
  try {
    return [...(await ask(port, path, 1)), ...(await ask(port, path, 10))];
  } catch (cause) {
    throw new Error(`${name}, GET ${path}: ${cause.message}`, { cause });
  }
}

/**
 * Checks the answers of a server, alone and pipelined.
 *
 * @param {{name: string, port: number}} server
 * @param {{path?: string, mustHave?: string[]}} [expected] names of headers that must be there
 * @returns the bytes of a response, its headers, and when its Date was read
 * @throws {Error} that names the first difference
 */
export async function checkServer(server, { path = '/', mustHave = [] } = {}) {
  const responses = await askAll(server, path);
  for (const response of responses) {
    const fault = findFault(response, mustHave);
    if (fault) throw new Error(`${server.name} answers GET ${path} wrongly: ${fault}`);
  }
  const [{ size, headers }] = responses;
  return { bytes: size, headers: Object.fromEntries(headers), atMs: performance.now() };
}

/** A Date that stands still would be a cheat: two checks some time apart must differ in it. */
export function checkDateMoves(server, before, after) {
  const apart = after.atMs - before.atMs;
  if (apart < 1100 || !before.headers.date) return;
  if (before.headers.date === after.headers.date) {
    throw new Error(`${server.name}: the Date header stands still`);
  }
}

/** The header names that only one of two responses has. */
export function diffHeaders(one, other) {
  const only = (a, b) => Object.keys(a.headers).filter((name) => !(name in b.headers));
  return { onlyFirst: only(one, other), onlySecond: only(other, one) };
}
