// A server whose handlers call every method in random order, with random arguments, from handlers,
// callbacks, microtasks and timers. It may refuse, answer, cut off and throw; it must not abort or
// hang, nor throw anything that is not an error of the API.

import process from 'node:process';
import { App, RequestPrefetchPlan, us_listen_socket_close, us_socket_local_port } from 'millrace';
import { random } from '../helpers.js';

const CODES = new Set([
  'ERR_INVALID_ARG_TYPE',
  'ERR_OUT_OF_RANGE',
  'ERR_MILLRACE_RESPONSE_GONE',
  'ERR_MILLRACE_REQUEST_GONE',
  'ERR_MILLRACE_HEAD_SENT',
  'ERR_MILLRACE_LENGTH_MISMATCH',
]);

const allFields = new RequestPrefetchPlan({ headers: 'all' });

class Monkey {
  #number;
  #open = [];
  #tell;
  #app;
  #tokens = [];
  #others = [];

  constructor(seed, app, tell) {
    this.#number = random(seed);
    this.#app = app;
    this.#tell = tell;
  }

  pick(list) {
    return list[this.#number(list.length)];
  }

  #detached() {
    const bytes = new Uint8Array(10);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
    return bytes;
  }

  data() {
    return this.pick([
      () => '',
      () => 'text',
      () => 'x'.repeat(this.#number(200)),
      () => 'x'.repeat(this.#number(100_000)),
      () => '\u00e9\ud800\u4e2d'.repeat(this.#number(100)),
      () => Buffer.alloc(this.#number(50_000), 'b'),
      () => new Uint16Array(this.#number(100)),
      () => new ArrayBuffer(this.#number(100)),
      () => new SharedArrayBuffer(20),
      () => new DataView(new ArrayBuffer(30), 10, 5),
      () => this.#detached(),
      () => undefined,
    ])();
  }

  anything() {
    if (this.#number(4) > 0) return this.data();
    return this.pick([null, true, 0, -1, 5, 1.5, 2 ** 40, Number.NaN, 10n, {}, [], Symbol('s')]);
  }

  count() {
    return this.pick([0, 1, 5, 100, 70_000, undefined, -1, 'x', this.#number(1000)]);
  }

  status() {
    return this.pick(['200 OK', '204', '304 Not Modified', '404', '500', '99', 'no', '200 \r\n']);
  }

  /** Calls `body`; what it throws must be an error of the API. */
  try(body) {
    try {
      return body();
    } catch (error) {
      if (error?.message !== 'monkey' && !CODES.has(error?.code)) {
        this.#tell(`FAULT ${error?.stack ?? String(error)}`);
      }
      return undefined;
    }
  }

  /** A function for a callback, which acts in its turn, and sometimes throws. */
  callback(res, depth) {
    return () => {
      this.act(res, undefined, depth + 1);
      if (this.#number(30) === 0) throw new Error('monkey');
      return this.pick([true, false, undefined]);
    };
  }

  readRequest(req) {
    const read = this.pick([
      () => req.getMethod(),
      () => req.getCaseSensitiveMethod(),
      () => req.getUrl(),
      () => req.getQuery(this.anything()),
      () => req.getHeader(this.anything()),
      () => req.getParameter(this.anything()),
      () => req.getParameter(this.#number(3)),
      () => req.forEach(() => this.#number(50) === 0 && this.try(() => req.getUrl())),
      () => req.prefetch(this.pick([allFields, this.anything()])),
      () => req.setYield(this.#number(4) === 0),
    ]);
    this.try(read);
  }

  actOnResponse(res, depth) {
    const acts = [
      () => res.writeStatus(this.#number(5) > 0 ? this.status() : this.anything()),
      () => res.writeHeader(this.pick(['a', 'b c', 'connection', 'content-length']), this.data()),
      () => res.writeHeader(this.anything(), this.anything()),
      () => res.write(this.anything()),
      () => res.write(this.data()),
      () => res.end(this.anything(), this.#number(5) === 0),
      () => res.end(this.data()),
      () => res.endWithoutBody(this.count(), this.#number(5) === 0),
      () => res.tryEnd(this.data(), this.count()),
      () => res.beginWrite(),
      () => res.endBatch('200 OK', ['x-batch', '1'], 'batch'),
      () => res.discardBody(),
      () => res.collectBody(this.#number(5000), this.callback(res, depth)),
      () => this.#number(12) === 0 && res.close(),
      () => res.cork(this.callback(res, depth)),
      () => res.onAborted(this.callback(res, depth)),
      () => res.onData(this.callback(res, depth)),
      () => res.onWritable(this.callback(res, depth)),
      () => res.onAborted(this.anything()),
      () => res.getWriteOffset(),
      () => res.getBufferedAmount(),
      () => res.pause(),
      () => res.resume(),
      () => res.getRemoteAddress(),
      () => res.getRemoteAddressAsText(),
      () => res.getRemotePort(),
      () => res.collect(this.anything()),
    ];
    this.try(this.pick(acts));
  }

  actOnApps(depth) {
    const acts = [
      () => this.#app.get(`/${this.#number(20)}/x`, (res, req) => this.handle(res, req, depth)),
      () => this.#app.any(`/:a/${this.#number(5)}`, this.pick([null, (res) => res.end('route')])),
      () => this.#app.post(this.anything(), this.anything()),
      () => this.#app.stats(),
      () => this.#app.listen('127.0.0.1', 0, (token) => this.#tokens.push(token)),
      () => this.#app.listen(this.anything(), this.anything(), this.anything()),
      () => us_socket_local_port(this.pick([...this.#tokens, this.anything()])),
      () => us_listen_socket_close(this.#tokens.pop() ?? this.anything()),
      () => this.#others.length < 20 && this.#others.push(App().any('/*', (res) => res.end('o'))),
      () => this.pick(this.#others)?.listen(0, (token) => this.#tokens.push(token)),
      () => this.pick(this.#others)?.close(),
    ];
    this.try(this.pick(acts));
  }

  act(res, req, depth) {
    if (depth > 4) return;
    const kind = this.#number(12);
    if (kind === 0 && req !== undefined) this.readRequest(req);
    else if (kind === 1) this.actOnApps(depth);
    else if (kind === 2 && this.#open.length > 0) this.actOnResponse(this.pick(this.#open), depth);
    else if (kind === 3) setTimeout(() => this.act(res, req, depth + 1), this.#number(5));
    else if (kind === 4) queueMicrotask(() => this.act(res, req, depth + 1));
    else this.actOnResponse(res, depth);
  }

  handle(res, req, depth = 0) {
    this.#open.push(res);
    if (this.#open.length > 50) this.#open.shift();
    const count = this.#number(8);
    for (let index = 0; index < count; index++) this.act(res, req, depth);
    setTimeout(() => this.finish(res), 5 + this.#number(40));
    if (this.#number(30) === 0) throw new Error('monkey');
    if (this.#number(10) === 0) return Promise.reject(new Error('monkey'));
    return this.#number(5) === 0 ? Promise.resolve() : undefined;
  }

  /** No request stays without an end. */
  finish(res) {
    this.try(() => res.onAborted(() => {}));
    this.try(() => res.resume());
    this.try(() => (this.#number(12) === 0 ? res.close() : res.end('finished')));
    this.try(() => res.close());
  }

  end() {
    for (const app of [this.#app, ...this.#others]) app.close();
  }
}

/** @param {number} seed @param {(text: string) => void} tell */
export function startMonkey(seed, tell) {
  const app = App({ limits: { bodyHoldBytesMax: 20_000, lingerTimeoutMs: 200 } });
  const monkey = new Monkey(seed, app, tell);
  process.on('uncaughtException', (error) => {
    if (error?.message !== 'monkey') tell(`FAULT uncaught ${error?.stack ?? String(error)}`);
  });
  process.removeAllListeners('warning');
  app.any('/*', (res, req) => monkey.handle(res, req));
  app.get('/:a/:b', (res, req) => monkey.handle(res, req));
  app.get('/stop', (res) => {
    res.end('stopping', true);
    setTimeout(() => monkey.end(), 100);
  });
  app.listen('127.0.0.1', 0, (token) => tell(`port ${us_socket_local_port(token)}`));
}
