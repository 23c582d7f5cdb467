// Response heads as paths through a tree.
//
// Most programs write the same status and fields again and again. Every step (a status, a field)
// leads from a node to a node, remembered under its text; at the end stands a node whose whole head
// C++ knows by number. So a known head costs a few comparisons, and is checked and encoded once.
// The tree is bounded: fields whose values change with every answer soon stop to be remembered, and
// the head goes on as text.

import { native } from './addon.js';
import { makeError, makeTypeError } from '../shared/values.js';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\uffff]*$/;
const STATUS = /^[2-9][0-9]{2}(?: [\t\x20-\x7e\x80-\uffff]*)?$/;

const NODES_MAX = 1024;
const CHILDREN_MAX = 16;
const REMEMBERED_LENGTH_MAX = 256;

/** Numbers of heads that C++ does not know. */
const NOT_PREPARED = -1;
const NEVER_PREPARED = -2;

let nodeCount = 0;

export class HeadNode {
  /**
   * The last step taken from here, and where it led.
   *
   * @type {string | undefined}
   */
  lastName = undefined;
  /** @type {string | undefined} */
  lastValue = undefined;
  /** @type {HeadNode | undefined} */
  lastNode = undefined;
  /** @type {Map<string, HeadNode> | undefined} */
  children = undefined;

  /**
   * @param {string} lines the status (or nothing) and the fields, each ended by CR LF
   * @param {number} number of the prepared head in C++
   */
  constructor(lines, number) {
    this.lines = lines;
    this.number = number;
  }

  /**
   * The node behind one more field, or undefined if there is no room to remember it.
   *
   * @param {string} name
   * @param {string} value
   */
  step(name, value) {
    const line = `${name}: ${value}\r\n`;
    const node = this.#child(line, this.lines + line, name.toLowerCase());
    if (node !== undefined) {
      this.lastName = name;
      this.lastValue = value;
      this.lastNode = node;
    }
    return node;
  }

  /**
   * The node with this status; only for the root.
   *
   * @param {string} status
   */
  withStatus(status) {
    return this.#child(status, `${status}\r\n`, '');
  }

  #child(key, lines, lowerName) {
    const known = this.children?.get(key);
    if (known !== undefined) return known;
    if (nodeCount >= NODES_MAX || lines.length > REMEMBERED_LENGTH_MAX) return undefined;
    this.children ??= new Map();
    if (this.children.size >= CHILDREN_MAX) return undefined;
    nodeCount++;
    // An answer that may end its connection must not wait in the command memory: what its handler
    // does next depends on it.
    const waits = lowerName === 'connection' || this.number === NEVER_PREPARED;
    const node = new HeadNode(lines, waits ? NEVER_PREPARED : NOT_PREPARED);
    this.children.set(key, node);
    return node;
  }

  /** The head as C++ takes it: a number, or lines. */
  toNative() {
    if (this.number === NOT_PREPARED) this.number = native.prepareHead(this.lines);
    return this.number >= 0 ? this.number : this.lines;
  }
}

/** No status and no field yet. */
export const ROOT = new HeadNode('\r\n', 0);

/** The head has been sent: a step from here never matches. */
export const SENT = new HeadNode('', NEVER_PREPARED);

/** The response is complete, or its connection is gone. */
export const GONE = new HeadNode('', NEVER_PREPARED);

/** @param {string} status */
export function checkStatus(status) {
  if (!STATUS.test(status)) {
    throw makeTypeError(
      'res.writeStatus(status) expects three digits from 200 to 999, alone or followed by a ' +
        'space and a reason without control characters',
    );
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
export function checkField(name, value) {
  if (!TOKEN.test(name)) {
    throw makeTypeError('res.writeHeader(name, value) expects a token (RFC 9110) as name');
  }
  if (!FIELD_VALUE.test(value)) {
    throw makeTypeError('res.writeHeader(name, value) expects a value without control characters');
  }
  if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
    if (value.toLowerCase() !== 'chunked') {
      throw makeTypeError(
        'res.writeHeader(name, value): messages are framed by the engine, Transfer-Encoding may ' +
          'only be chunked',
      );
    }
  }
}

/** @returns {never} */
export function throwHeadSent() {
  throw makeError('ERR_MILLRACE_HEAD_SENT', 'the head of the response has been sent');
}
