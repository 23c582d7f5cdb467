// Response heads as paths through a tree.
//
// Most programs write the same status and fields again and again. Every step (a status, a field)
// leads from a node to a node, remembered under its text; at the end stands a node whose whole head
// C++ knows by number. So a known head costs a few comparisons, and is checked and encoded once.
// The tree is bounded: fields whose values change with every answer soon stop to be remembered, and
// the head goes on as text.

import { Buffer } from 'node:buffer';

import { native } from './addon.js';
import { makeError, makeTypeError } from '../shared/values.js';

/** 1 for the units that make up a token (RFC 9110 section 5.6.2). */
const TOKEN_UNITS = new Uint8Array(128);
for (const unit of Buffer.from(
  "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
)) {
  TOKEN_UNITS[unit] = 1;
}

export function isToken(text) {
  for (let index = 0; index < text.length; index++) {
    if (TOKEN_UNITS[text.charCodeAt(index)] !== 1) return false;
  }
  return text !== '';
}

/** Whether there is no control but HTAB from `index` on (RFC 9110 section 5.5). */
function isFieldValue(text, index = 0) {
  for (; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20 ? unit !== 0x09 : unit === 0x7f) return false;
  }
  return true;
}

const isDigitAt = (text, index) => {
  const unit = text.charCodeAt(index);
  return unit >= 0x30 && unit <= 0x39;
};

/** Three digits from 200 to 999, alone or followed by a space and a reason. */
function isStatus(text) {
  if (!isDigitAt(text, 0) || !isDigitAt(text, 1) || !isDigitAt(text, 2) || text < '2') return false;
  return text.length === 3 || (text[3] === ' ' && isFieldValue(text, 4));
}

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
  if (!isStatus(status)) {
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
  if (!isToken(name)) {
    throw makeTypeError('res.writeHeader(name, value) expects a token (RFC 9110) as name');
  }
  if (!isFieldValue(value)) {
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
