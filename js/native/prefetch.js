// Fields of a request that outlive it: a plan says which, prefetch() takes them.

import { isToken } from './head.js';
import { hideConstructor, makeTypeError, toText } from '../shared/values.js';

const NAMES_MAX = 65535;

/** Internal doors, for HttpRequest only. */
export let isPlan;
export let takeFields;

function namesOf(headers) {
  if (headers === 'all') return [];
  if (!Array.isArray(headers) || headers.length > NAMES_MAX) {
    throw makeTypeError(
      `RequestPrefetchPlan expects headers to be 'all' or an array of at most ${NAMES_MAX} names`,
    );
  }
  const names = new Set();
  for (const name of headers) {
    if (typeof name !== 'string' || !isToken(name)) {
      throw makeTypeError('RequestPrefetchPlan expects names of header fields (RFC 9110, 5.6.2)');
    }
    names.add(name.toLowerCase());
  }
  return [...names];
}

/** Which fields prefetch() takes. Never changes once it is made. */
export class RequestPrefetchPlan {
  #wanted;

  constructor(options) {
    if (typeof options !== 'object' || options === null) {
      throw makeTypeError('RequestPrefetchPlan expects an object of options');
    }
    const unknown = Object.keys(options).filter((key) => key !== 'headers');
    if (unknown.length > 0) {
      throw makeTypeError(`RequestPrefetchPlan has no option ${unknown.join(', ')}`);
    }
    const { headers } = options;
    this.headerNames = Object.freeze(namesOf(headers));
    this.#wanted = headers === 'all' ? undefined : new Set(this.headerNames);
    Object.freeze(this);
  }

  static {
    isPlan = (value) => typeof value === 'object' && value !== null && #wanted in value;
    takeFields = (plan, fields) => {
      const entries = [];
      for (let at = 0; at < fields.length; at += 2) {
        const name = fields[at].toLowerCase();
        if (plan.#wanted?.has(name) ?? true) entries.push(name, fields[at + 1]);
      }
      return new RequestSnapshot(Object.freeze(entries));
    };
  }
}

/** What prefetch() took. Names are in lower case, values Latin-1. */
class RequestSnapshot {
  #entries;
  #headers;

  constructor(entries) {
    this.#entries = entries;
  }

  /** The first value; undefined if there is none, or the plan did not want it. */
  getHeader(name) {
    const wanted = toText(name, 'snapshot.getHeader(name)').toLowerCase();
    const entries = this.#entries;
    for (let at = 0; at < entries.length; at += 2) {
      if (entries[at] === wanted) return entries[at + 1];
    }
    return undefined;
  }

  /** All values in the order of the wire; undefined if there is none. */
  getHeaderValues(name) {
    const wanted = toText(name, 'snapshot.getHeaderValues(name)').toLowerCase();
    const values = this.#entries.filter((_, at, all) => at % 2 === 1 && all[at - 1] === wanted);
    return values.length === 0 ? undefined : Object.freeze(values);
  }

  /** An object of name and value; of several values of one name the last. */
  getHeaders() {
    if (this.#headers !== undefined) return this.#headers;
    const headers = Object.create(null);
    const entries = this.#entries;
    for (let at = 0; at < entries.length; at += 2) headers[entries[at]] = entries[at + 1];
    return (this.#headers = headers);
  }

  /** Name, value, name, value, ... in the order of the wire. */
  getHeaderEntries() {
    return this.#entries;
  }
}

hideConstructor(RequestSnapshot);
