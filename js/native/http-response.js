// HttpResponse: the answer to one request, for ever. A short answer with a known head is written
// into the memory shared with C++; everything else is a call.

import { native } from './addon.js';
import {
  COMMAND_END,
  COMMAND_HEAD_BYTES,
  commandBytes,
  commandMemory,
  COMMANDS_BEGIN,
  commandWords,
  receiveMemory,
} from './memory.js';
import { checkField, checkStatus, GONE, ROOT, SENT, throwHeadSent } from './head.js';
import { turn } from './turn.js';
import { makeError, makeRangeError, makeTypeError, toBytes, toText } from '../shared/values.js';

/** Bodies up to this many UTF-16 units are written by JavaScript. */
const SHORT_BODY = 128;
const COMMAND_ROOM =
  commandMemory.byteLength - COMMANDS_BEGIN - COMMAND_HEAD_BYTES - SHORT_BODY - 4;

const BODY_EXISTS = 1;
const BODY_IS_HELD = 2;
const TRY_END_ACCEPTED = 1;
const TRY_END_DONE = 2;

/**
 * Which response stands in which slot, if it was not answered when its handler returned. That of
 * the handler which is running is turn.response.
 */
const responses = [];

/** What a response was asked to call. Most responses are answered before they need one. */
class Callbacks {
  aborted = undefined;
  data = undefined;
  writable = undefined;
  isPaused = false;
  /** There is no body, and its end has been told. */
  isEmptyTold = false;
  /** The batch in which a piece of the body was given back to the engine: what follows it, too. */
  heldInBatch = 0;
  /** All queued bytes were taken before anybody asked to be told. */
  missedWritable = false;
}

function throwGone() {
  throw makeError(
    'ERR_MILLRACE_RESPONSE_GONE',
    'HttpResponse must not be used after it is complete or its connection is gone',
  );
}

function checkFunction(value, what) {
  if (typeof value !== 'function') throw makeTypeError(`${what} expects a function`);
}

/** Internal doors, for the dispatcher only. */
export let isOpen;
export let isBegun;
export let hasCallbacks;
export let abort;
export let deliverBody;
export let deliverWritable;
export let answerError;
export let slotOf;
export let forget;
export let keep;

export class HttpResponse {
  #slot;
  #head;
  #callbacks;

  constructor(slot) {
    this.#slot = slot;
    this.#head = ROOT;
    this.#callbacks = undefined;
  }

  // --- Head -------------------------------------------------------------------------------------

  writeStatus(status) {
    const head = this.#head;
    if (head === GONE) throwGone();
    const text = toText(status, 'res.writeStatus(status)');
    checkStatus(text);
    if (head === SENT) throwHeadSent();
    const lines = typeof head === 'string' ? head : head.lines;
    if (!lines.startsWith('\r\n')) return this; // the first call has won
    this.#head = (head === ROOT ? ROOT.withStatus(text) : undefined) ?? text + lines;
    return this;
  }

  writeHeader(name, value) {
    const head = this.#head;
    if (head.lastName === name && head.lastValue === value && name !== undefined) {
      this.#head = head.lastNode;
      return this;
    }
    return this.#addField(name, value);
  }

  #addField(name, value) {
    const head = this.#head;
    if (head === GONE) throwGone();
    const nameText = toText(name, 'res.writeHeader(name, value)');
    const valueText = toText(value, 'res.writeHeader(name, value)');
    checkField(nameText, valueText);
    if (head === SENT) throwHeadSent();
    if (typeof head !== 'string') {
      const next = head.step(nameText, valueText);
      if (next !== undefined) {
        this.#head = next;
        return this;
      }
    }
    const lines = typeof head === 'string' ? head : head.lines;
    this.#head = `${lines}${nameText}: ${valueText}\r\n`;
    return this;
  }

  /** The head for a native call; nothing once it has been sent. */
  #nativeHead() {
    const head = this.#head;
    if (typeof head === 'string') return head;
    return head === SENT ? 0 : head.toNative();
  }

  // --- Completion -------------------------------------------------------------------------------

  end(body, closeConnection) {
    const number = this.#head.number;
    if (number >= 0 && typeof body === 'string' && closeConnection === undefined) {
      const length = body.length;
      if (length <= SHORT_BODY) {
        // A short answer with a known head is written into memory, if it is ASCII.
        let used = commandWords[0];
        if (used > COMMAND_ROOM) {
          native.runCommands();
          used = 0;
        }
        const bodyAt = COMMANDS_BEGIN + COMMAND_HEAD_BYTES + used;
        let index = 0;
        while (index < length) {
          const unit = body.charCodeAt(index);
          if (unit > 127) break;
          commandBytes[bodyAt + index++] = unit;
        }
        if (index === length) {
          const word = (COMMANDS_BEGIN + used) >> 2;
          commandWords[word] = COMMAND_END;
          commandWords[word + 1] = this.#slot;
          commandWords[word + 2] = number;
          commandWords[word + 3] = length;
          commandWords[0] = used + COMMAND_HEAD_BYTES + ((length + 3) & ~3);
          this.#finish(this.#slot);
          if (!turn.isDispatching) turn.scheduleFlush();
          return this;
        }
      }
    }
    return this.#endByCall(body, closeConnection);
  }

  #endByCall(body, closeConnection) {
    const slot = this.#open();
    const bytes = toBytes(body, 'res.end(body)');
    native.end(slot, this.#nativeHead(), bytes, Boolean(closeConnection));
    this.#finish(slot);
    turn.touched();
    return this;
  }

  endWithoutBody(reportedLength, closeConnection) {
    const slot = this.#open();
    if (
      reportedLength !== undefined &&
      !(Number.isSafeInteger(reportedLength) && reportedLength >= 0)
    ) {
      throw makeRangeError(
        'res.endWithoutBody(reportedLength) expects a non-negative safe integer',
      );
    }
    native.endWithoutBody(slot, this.#nativeHead(), reportedLength ?? -1, Boolean(closeConnection));
    this.#finish(slot);
    turn.touched();
    return this;
  }

  tryEnd(chunk, totalSize = 0) {
    const slot = this.#open();
    const bytes = toBytes(chunk, 'res.tryEnd(chunk, totalSize)');
    if (!(Number.isSafeInteger(totalSize) && totalSize >= 0)) {
      throw makeRangeError('res.tryEnd(chunk, totalSize) expects a non-negative safe integer');
    }
    const result = native.tryEnd(slot, this.#nativeHead(), bytes, totalSize);
    const isDone = (result & TRY_END_DONE) !== 0;
    if (isDone) this.#finish(slot);
    else this.#head = SENT;
    turn.touched();
    return [(result & TRY_END_ACCEPTED) !== 0, isDone];
  }

  close() {
    const slot = this.#open();
    const aborted = native.closeConnection(slot);
    turn.abortAll(aborted);
    turn.touched();
    return this;
  }

  // --- Streaming --------------------------------------------------------------------------------

  write(chunk) {
    const slot = this.#open();
    // undefined is no piece, though it is an empty body elsewhere.
    const bytes = toBytes(chunk === undefined ? null : chunk, 'res.write(chunk)');
    const isTaken = native.write(slot, this.#nativeHead(), bytes);
    const isEmpty = (typeof bytes === 'string' ? bytes.length : bytes.byteLength) === 0;
    // An empty piece sends nothing, so the head may still change.
    if (!isEmpty) this.#head = SENT;
    turn.touched();
    return isTaken;
  }

  beginWrite() {
    const slot = this.#open();
    native.beginWrite(slot, this.#nativeHead());
    this.#head = SENT;
    turn.touched();
    return this;
  }

  getWriteOffset() {
    return native.writeOffset(this.#open());
  }

  getBufferedAmount() {
    return native.queuedBytes(this.#open());
  }

  onWritable(handler) {
    const slot = this.#open();
    checkFunction(handler, 'res.onWritable(handler)');
    const callbacks = this.#callbacksMade();
    callbacks.writable = handler;
    if (callbacks.missedWritable) {
      callbacks.missedWritable = false;
      native.notifyWritable(slot);
      turn.touched();
    }
    return this;
  }

  cork(callback) {
    this.#open();
    checkFunction(callback, 'res.cork(callback)');
    callback();
    return this;
  }

  collect(callback) {
    return this.cork(callback);
  }

  // --- The request's body, and the end ----------------------------------------------------------

  onAborted(handler) {
    this.#open();
    checkFunction(handler, 'res.onAborted(handler)');
    this.#callbacksMade().aborted = handler;
    return this;
  }

  onData(handler) {
    const slot = this.#open();
    checkFunction(handler, 'res.onData(handler)');
    const callbacks = this.#callbacksMade();
    callbacks.data = handler;
    const state = native.bodyState(slot);
    if ((state & BODY_EXISTS) === 0) {
      if (!callbacks.isEmptyTold) queueMicrotask(() => this.#deliver(new ArrayBuffer(0), true));
      callbacks.isEmptyTold = true;
    } else if ((state & BODY_IS_HELD) !== 0 && !callbacks.isPaused) {
      native.releaseBody(slot);
    }
    return this;
  }

  pause() {
    const slot = this.#open();
    this.#callbacksMade().isPaused = true;
    native.pauseBody(slot);
    return this;
  }

  resume() {
    const slot = this.#open();
    const callbacks = this.#callbacks;
    if (callbacks === undefined || !callbacks.isPaused) return this;
    callbacks.isPaused = false;
    native.releaseBody(slot);
    return this;
  }

  // --- The peer ---------------------------------------------------------------------------------

  getRemoteAddress() {
    return native.remoteAddress(this.#open());
  }

  getRemoteAddressAsText() {
    return new TextEncoder().encode(native.remoteAddressText(this.#open())).buffer;
  }

  getRemotePort() {
    return native.remotePort(this.#open());
  }

  getProxiedRemoteAddress() {
    this.#open();
    return new ArrayBuffer(0);
  }

  getProxiedRemoteAddressAsText() {
    this.#open();
    return new ArrayBuffer(0);
  }

  getProxiedRemotePort() {
    this.#open();
    return 0;
  }

  // --- Inside -----------------------------------------------------------------------------------

  #open() {
    if (this.#head === GONE) throwGone();
    return this.#slot;
  }

  #callbacksMade() {
    return (this.#callbacks ??= new Callbacks());
  }

  #finish(slot) {
    this.#head = GONE;
    this.#callbacks = undefined;
    if (turn.response !== this) responses[slot] = undefined;
  }

  #deliver(chunk, isLast) {
    const handler = this.#callbacks?.data;
    if (handler === undefined) return;
    try {
      handler(chunk, isLast);
    } catch (error) {
      turn.fail(this, error);
    }
    if (chunk.byteLength > 0) native.detach(chunk);
  }

  #body(slot, offset, length, isLast) {
    const callbacks = this.#callbacksMade();
    const isWanted = callbacks.data !== undefined && !callbacks.isPaused;
    if (isWanted && callbacks.heldInBatch !== turn.batch) {
      this.#deliver(receiveMemory.slice(offset, offset + length), isLast);
      return;
    }
    callbacks.heldInBatch = turn.batch;
    native.holdBody(slot, offset, length, isLast);
    if (isWanted) native.releaseBody(slot);
  }

  #writable(slot) {
    const callbacks = this.#callbacksMade();
    const handler = callbacks.writable;
    if (handler === undefined) {
      callbacks.missedWritable = true;
      return;
    }
    try {
      const isDone = handler(native.writeOffset(slot));
      if (isDone === false && this.#head !== GONE) native.notifyWritable(slot);
    } catch (error) {
      turn.fail(this, error);
    }
  }

  #answerError() {
    const slot = this.#slot;
    if (this.#head === SENT) {
      this.close();
      return;
    }
    native.end(slot, '500 Internal Server Error\r\n', 'Internal Server Error', true);
    this.#finish(slot);
    turn.touched();
  }

  static {
    isOpen = (response) => response.#head !== GONE;
    isBegun = (response) => response.#head === SENT;
    hasCallbacks = (response) => {
      const callbacks = response.#callbacks;
      return (
        callbacks !== undefined &&
        (callbacks.aborted ?? callbacks.data ?? callbacks.writable) !== undefined
      );
    };
    const find = (slot) => {
      const running = turn.response;
      return running !== undefined && running.#slot === slot ? running : responses[slot];
    };
    abort = (slot) => {
      const response = find(slot);
      if (response === undefined) return;
      const handler = response.#callbacks?.aborted;
      response.#finish(slot);
      if (handler !== undefined) handler();
    };
    deliverBody = (slot, offset, length, isLast) => {
      const response = find(slot);
      if (response !== undefined) response.#body(slot, offset, length, isLast);
    };
    deliverWritable = (slot) => {
      const response = find(slot);
      if (response !== undefined) response.#writable(slot);
    };
    keep = (response) => {
      responses[response.#slot] = response;
    };
    answerError = (response) => response.#answerError();
    slotOf = (response) => response.#slot;
    forget = (response) => response.#finish(response.#slot);
  }
}
