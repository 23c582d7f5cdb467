// App: routes, listeners, life and death.

import { native } from './addon.js';
import { addRoute, forgetRoute, start } from './dispatcher.js';
import { NO_ROUTE } from './memory.js';
import { turn } from './turn.js';
import { readAppOptions, readListenArguments } from './arguments.js';
import { describe, hideConstructor, makeTypeError, toText } from '../shared/values.js';

/** What a successful listen gives: names one listening socket. */
export class ListenSocket {
  #app;
  #listener;
  #isOpen = true;

  constructor(app, listener) {
    this.#app = app;
    this.#listener = listener;
  }

  static #checked(socket, what) {
    if (typeof socket !== 'object' || socket === null || !(#app in socket)) {
      throw makeTypeError(`${what} expects a listen socket, not ${describe(socket)}`);
    }
    return socket;
  }

  static close(socket) {
    const checked = ListenSocket.#checked(socket, 'us_listen_socket_close(socket)');
    if (!checked.#isOpen) return;
    checked.#isOpen = false;
    native.closeListener(checked.#app, checked.#listener);
  }

  static localPort(socket) {
    const checked = ListenSocket.#checked(socket, 'us_socket_local_port(socket)');
    return checked.#isOpen ? native.localPort(checked.#app, checked.#listener) : -1;
  }
}

hideConstructor(ListenSocket);

/** Part of a name, or space around one. */
const isNameUnit = (unit) =>
  unit <= 0x20 ||
  (unit >= 0x30 && unit <= 0x39) || // 0-9
  (unit >= 0x41 && unit <= 0x5a) || // A-Z
  (unit >= 0x61 && unit <= 0x7a) || // a-z
  unit === 0x5f || // _
  unit === 0x24 || // $
  unit >= 0x80;

function skipName(source, from) {
  let at = from;
  while (at < source.length && isNameUnit(source.charCodeAt(at))) at++;
  return at;
}

/**
 * Whether a handler can see its second argument. One that cannot is spared the object. A function
 * that is not plainly one of one parameter, `res => ...` or `name(res) ...`, gets it.
 */
function wantsRequest(handler) {
  if (handler.length !== 1) return true;
  const source = Function.prototype.toString.call(handler);
  if (source.includes('[native code]')) return true;
  // An escape may hide a name.
  if (['arguments', 'eval', '\\u'].some((text) => source.includes(text))) return true;
  const open = skipName(source, 0);
  if (source.startsWith('=>', open)) return false;
  return source[open] !== '(' || source[skipName(source, open + 1)] !== ')';
}

export class TemplatedApp {
  #number;

  constructor(options) {
    const { limits, automaticHead, methodNotAllowed } = readAppOptions(options);
    start();
    this.#number = native.createApp(limits, automaticHead, methodNotAllowed);
  }

  #route(name, method, pattern, handler) {
    const what = `app.${name}(pattern, handler)`;
    if (pattern === undefined) throw makeTypeError(`${what} expects a pattern`);
    const text = toText(pattern, what);
    if (text === '') throw makeTypeError(`${what} expects a pattern that is not empty`);
    if (handler === null) {
      const removed = native.removeRoute(this.#number, method, text);
      if (removed !== NO_ROUTE) forgetRoute(removed);
      return this;
    }
    if (typeof handler !== 'function') {
      throw makeTypeError(`${what} expects a function, not ${describe(handler)}`);
    }
    const number = addRoute({
      app: this.#number,
      method,
      pattern: text,
      handler,
      wantsRequest: wantsRequest(handler),
    });
    const before = native.addRoute(this.#number, method, text, number);
    if (before !== NO_ROUTE) forgetRoute(before);
    return this;
  }

  get(pattern, handler) {
    return this.#route('get', 'GET', pattern, handler);
  }

  post(pattern, handler) {
    return this.#route('post', 'POST', pattern, handler);
  }

  options(pattern, handler) {
    return this.#route('options', 'OPTIONS', pattern, handler);
  }

  del(pattern, handler) {
    return this.#route('del', 'DELETE', pattern, handler);
  }

  patch(pattern, handler) {
    return this.#route('patch', 'PATCH', pattern, handler);
  }

  put(pattern, handler) {
    return this.#route('put', 'PUT', pattern, handler);
  }

  head(pattern, handler) {
    return this.#route('head', 'HEAD', pattern, handler);
  }

  connect(pattern, handler) {
    return this.#route('connect', 'CONNECT', pattern, handler);
  }

  trace(pattern, handler) {
    return this.#route('trace', 'TRACE', pattern, handler);
  }

  any(pattern, handler) {
    return this.#route('any', '', pattern, handler);
  }

  listen(...values) {
    const { host, port, isShared, callback } = readListenArguments(values);
    const listener = native.listen(this.#number, host, port, isShared);
    callback(listener > 0 ? new ListenSocket(this.#number, listener) : false);
    return this;
  }

  close() {
    turn.abortAll(native.closeApp(this.#number));
    return this;
  }

  /** Figures of this app and of its thread's loop: an object of numbers. */
  stats() {
    return native.stats(this.#number);
  }
}
