// The demo of `./millrace serve`: a few routes, and a page that shows what the engine does while it
// does it. Usage: node demo/server.js [--port N] [--host H]
import { readFileSync } from 'node:fs';
import process from 'node:process';

import uWS from 'millrace';

import { parseOptions } from './options.js';

const bodyBytesMax = 1024 * 1024;

/** @param {string} name */
const pageFile = (name) => readFileSync(new URL(`./page/${name}`, import.meta.url));

const page = {
  '/': { type: 'text/html; charset=utf-8', body: pageFile('index.html') },
  '/page.css': { type: 'text/css; charset=utf-8', body: pageFile('page.css') },
  '/page.js': { type: 'text/javascript; charset=utf-8', body: pageFile('page.js') },
};

/** @param {any} res @param {unknown} value */
function endJson(res, value) {
  res.writeHeader('Content-Type', 'application/json').end(JSON.stringify(value));
}

/**
 * Answers with the body of the request, once it is whole.
 * @param {any} res
 * @param {any} req
 */
function echo(res, req) {
  const type = req.getHeader('content-type') || 'application/octet-stream';
  /** @type {Buffer[]} */
  const pieces = [];
  let bytes = 0;
  let open = true;
  res.onAborted(() => {
    open = false;
  });
  res.onData((/** @type {ArrayBuffer} */ piece, /** @type {boolean} */ isLast) => {
    if (!open) return;
    bytes += piece.byteLength;
    if (bytes > bodyBytesMax) {
      open = false;
      res.writeStatus('413 Content Too Large').end(`at most ${bodyBytesMax} bytes\n`, true);
      return;
    }
    // The piece is only ours until this function returns.
    pieces.push(Buffer.from(Buffer.from(piece)));
    if (isLast) res.writeHeader('Content-Type', type).end(Buffer.concat(pieces));
  });
}

function createApp() {
  const startedMs = Date.now();
  const app = uWS.App();
  for (const [path, { type, body }] of Object.entries(page)) {
    app.get(path, (/** @type {any} */ res) => {
      res.writeHeader('Content-Type', type).end(body);
    });
  }
  app.get('/json', (/** @type {any} */ res) => endJson(res, { ok: true }));
  app.get('/hello/:name', (/** @type {any} */ res, /** @type {any} */ req) => {
    res
      .writeHeader('Content-Type', 'text/plain; charset=utf-8')
      .end(`Hello, ${decode(req.getParameter(0))}\n`);
  });
  app.post('/echo', echo);
  app.get('/stats', (/** @type {any} */ res) => {
    const memory = process.memoryUsage();
    endJson(res, {
      engine: app.stats?.() ?? {},
      process: {
        node: process.versions.node,
        pid: process.pid,
        uptimeMs: Date.now() - startedMs,
        cpuMicros: cpuMicros(),
        residentBytes: memory.rss,
        heapBytes: memory.heapUsed,
      },
    });
  });
  app.any('/*', (/** @type {any} */ res) => {
    res.writeStatus('404 Not Found').end('There is nothing here.\n');
  });
  return app;
}

function cpuMicros() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** A parameter comes as it stood in the path. @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} host */
const inAddress = (host) => (host.includes(':') ? `[${host}]` : host);

function main() {
  const { host, port, error } = parseOptions(process.argv.slice(2));
  if (error) {
    console.error(error);
    process.exitCode = 2;
    return;
  }
  const app = createApp();
  app.listen(host, port, (/** @type {unknown} */ socket) => {
    if (!socket) {
      console.error(
        `cannot listen on ${inAddress(host)}:${port}: it is in use, or not an address of this ` +
          'machine. Choose another with --port or --host.',
      );
      process.exitCode = 1;
      return;
    }
    console.log(`Millrace listens on http://${inAddress(host)}:${portOf(socket, port)}/`);
    for (const signal of ['SIGINT', 'SIGTERM']) {
      process.once(signal, () => {
        console.log('stopped');
        app.close();
      });
    }
  });
}

/** @param {unknown} socket @param {number} asked */
function portOf(socket, asked) {
  return asked === 0 ? (uWS.us_socket_local_port?.(/** @type {any} */ (socket)) ?? 0) : asked;
}

main();
