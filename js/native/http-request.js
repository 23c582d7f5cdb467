// HttpRequest: what the handler may read of its request, until it returns.

import { native } from './addon.js';
import { isPlan, takeFields } from './prefetch.js';
import { turn } from './turn.js';
import { queryValue } from '../shared/query.js';
import { hideConstructor, makeError, makeTypeError, toText } from '../shared/values.js';

const PARAMETER_INDEX_MAX = 65535;

function throwGone() {
  throw makeError(
    'ERR_MILLRACE_REQUEST_GONE',
    'HttpRequest must not be used after its handler has returned: copy what is needed later',
  );
}

/** Internal door, for the dispatcher only. */
export let isYielding;

export class HttpRequest {
  #index;
  #isYielding = false;

  constructor(index) {
    this.#index = index;
  }

  getMethod() {
    return native.requestMethod(HttpRequest.#valid(this)).toLowerCase();
  }

  getCaseSensitiveMethod() {
    return native.requestMethod(HttpRequest.#valid(this));
  }

  getUrl() {
    return native.requestUrl(HttpRequest.#valid(this));
  }

  getQuery(key) {
    const index = HttpRequest.#valid(this);
    if (key === undefined) return native.requestQuery(index);
    const name = toText(key, 'req.getQuery(key)');
    const query = native.requestQuery(index);
    return query === undefined ? undefined : queryValue(query, name);
  }

  getHeader(name) {
    const index = HttpRequest.#valid(this);
    return native.requestHeader(index, toText(name, 'req.getHeader(name)'));
  }

  getParameter(indexOrName) {
    const index = HttpRequest.#valid(this);
    if (typeof indexOrName !== 'number') {
      return native.requestParameter(index, toText(indexOrName, 'req.getParameter(indexOrName)'));
    }
    if (!Number.isInteger(indexOrName) || indexOrName < 0 || indexOrName > PARAMETER_INDEX_MAX) {
      throw makeTypeError(
        `req.getParameter(index) expects an integer from 0 to ${PARAMETER_INDEX_MAX}`,
      );
    }
    return native.requestParameter(index, indexOrName);
  }

  forEach(callback) {
    const index = HttpRequest.#valid(this);
    if (typeof callback !== 'function') {
      throw makeTypeError('req.forEach(callback) expects a function');
    }
    const fields = native.requestFields(index);
    for (let at = 0; at < fields.length; at += 2)
      callback(fields[at].toLowerCase(), fields[at + 1]);
  }

  prefetch(plan) {
    const index = HttpRequest.#valid(this);
    if (!isPlan(plan)) throw makeTypeError('req.prefetch(plan) expects a RequestPrefetchPlan');
    return takeFields(plan, native.requestFields(index));
  }

  setYield(isYield) {
    HttpRequest.#valid(this);
    this.#isYielding = Boolean(isYield);
    return this;
  }

  static #valid(request) {
    if (turn.request !== request) throwGone();
    return request.#index;
  }

  static {
    isYielding = (request) => request.#isYielding;
  }
}

hideConstructor(HttpRequest);
