// HttpResponse: the answer to one request, for ever. A short answer with a known head is written
// into the memory shared with C++ (commands.js); everything else is a call.

import { native } from './addon.js';
import { BodyCollector } from './body-collector.js';
import { putEnd, SHORT_BODY } from './commands.js';
import { checkField, checkStatus, GONE, ROOT, SENT, throwHeadSent } from './head.js';
import { receiveMemory } from './memory.js';
import { turn } from './turn.js';
import {
  hideConstructor,
  makeError,
  makeRangeError,
  makeTypeError,
  toBytes,
  toText,
} from '../shared/values.js';

const BODY_EXISTS = 1;
const BODY_IS_HELD = 2;
const TRY_END_ACCEPTED = 1;
const TRY_END_DONE = 2;

/**
 * Which response stands in which slot, if it was not answered when its handler returned. That of
 * the handler which is running is turn.response, until it is complete.
 */
const responses = [];

/** What a response was asked to call. Most responses are answered before they need one. */
class Callbacks {
  aborted = undefined;
  data = undefined;
  writable = undefined;
  isPaused = false;
  /** The data function keeps its pieces. */
  keepsPieces = false;
  /** Nobody wants the body. */
  discards = false;
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

function checkSize(value, what) {
  if (!(Number.isSafeInteger(value) && value >= 0)) {
    throw makeRangeError(`${what} a non-negative safe integer`);
  }
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
    return HttpResponse.#addField(this, name, value);
  }

  static #addField(response, name, value) {
    const head = response.#head;
    if (head === GONE) throwGone();
    const nameText = toText(name, 'res.writeHeader(name, value)');
    const valueText = toText(value, 'res.writeHeader(name, value)');
    checkField(nameText, valueText);
    if (head === SENT) throwHeadSent();
    if (typeof head !== 'string') {
      const next = head.step(nameText, valueText);
      if (next !== undefined) {
        response.#head = next;
        return response;
      }
    }
    const lines = typeof head === 'string' ? head : head.lines;
    response.#head = `${lines}${nameText}: ${valueText}\r\n`;
    return response;
  }

  /** The head for a native call; nothing once it has been sent. */
  static #nativeHead(response) {
    const head = response.#head;
    if (typeof head === 'string') return head;
    return head === SENT ? 0 : head.toNative();
  }

  // --- Completion -------------------------------------------------------------------------------

  end(body, closeConnection) {
    const { number } = this.#head;
    if (
      number >= 0 &&
      closeConnection === undefined &&
      typeof body === 'string' &&
      body.length <= SHORT_BODY &&
      putEnd(this.#slot, number, body)
    ) {
      HttpResponse.#finish(this, this.#slot);
      if (!turn.isDispatching) turn.scheduleFlush();
      return this;
    }
    return HttpResponse.#endByCall(this, body, closeConnection);
  }

  endBatch(status, headerLines, body) {
    HttpResponse.#open(this);
    if (!Array.isArray(headerLines) || headerLines.length % 2 !== 0) {
      throw makeTypeError('res.endBatch(status, headerLines, body) expects pairs of headerLines');
    }
    const bytes = toBytes(body, 'res.endBatch(status, headerLines, body)');
    const before = this.#head;
    try {
      this.writeStatus(status);
      for (let index = 0; index < headerLines.length; index += 2) {
        this.writeHeader(headerLines[index], headerLines[index + 1]);
      }
    } catch (error) {
      // A getter in the array may have answered in the meantime: what is gone stays so.
      if (this.#head !== GONE && this.#head !== SENT) this.#head = before;
      throw error;
    }
    return this.end(bytes);
  }

  static #endByCall(response, body, closeConnection) {
    const slot = HttpResponse.#open(response);
    const bytes = toBytes(body, 'res.end(body)');
    native.end(slot, HttpResponse.#nativeHead(response), bytes, Boolean(closeConnection));
    HttpResponse.#finish(response, slot);
    turn.touched();
    return response;
  }

  endWithoutBody(reportedLength, closeConnection) {
    const slot = HttpResponse.#open(this);
    if (reportedLength !== undefined) {
      checkSize(reportedLength, 'res.endWithoutBody(reportedLength) expects');
    }
    native.endWithoutBody(
      slot,
      HttpResponse.#nativeHead(this),
      reportedLength ?? -1,
      Boolean(closeConnection),
    );
    HttpResponse.#finish(this, slot);
    turn.touched();
    return this;
  }

  tryEnd(chunk, totalSize = 0) {
    const slot = HttpResponse.#open(this);
    const bytes = toBytes(chunk, 'res.tryEnd(chunk, totalSize)');
    checkSize(totalSize, 'res.tryEnd(chunk, totalSize) expects');
    const result = native.tryEnd(slot, HttpResponse.#nativeHead(this), bytes, totalSize);
    const isDone = (result & TRY_END_DONE) !== 0;
    if (isDone) HttpResponse.#finish(this, slot);
    else this.#head = SENT;
    turn.touched();
    return [(result & TRY_END_ACCEPTED) !== 0, isDone];
  }

  close() {
    const slot = HttpResponse.#open(this);
    const aborted = native.closeConnection(slot);
    turn.abortAll(aborted);
    turn.touched();
    return this;
  }

  // --- Streaming --------------------------------------------------------------------------------

  write(chunk) {
    const slot = HttpResponse.#open(this);
    // undefined is no piece, though it is an empty body elsewhere.
    const bytes = toBytes(chunk === undefined ? null : chunk, 'res.write(chunk)');
    const isTaken = native.write(slot, HttpResponse.#nativeHead(this), bytes);
    const isEmpty = (typeof bytes === 'string' ? bytes.length : bytes.byteLength) === 0;
    // An empty piece sends nothing, so the head may still change.
    if (!isEmpty) this.#head = SENT;
    turn.touched();
    return isTaken;
  }

  beginWrite() {
    const slot = HttpResponse.#open(this);
    native.beginWrite(slot, HttpResponse.#nativeHead(this));
    this.#head = SENT;
    turn.touched();
    return this;
  }

  getWriteOffset() {
    return native.writeOffset(HttpResponse.#open(this));
  }

  getBufferedAmount() {
    return native.queuedBytes(HttpResponse.#open(this));
  }

  onWritable(handler) {
    const slot = HttpResponse.#open(this);
    checkFunction(handler, 'res.onWritable(handler)');
    const callbacks = HttpResponse.#callbacksMade(this);
    callbacks.writable = handler;
    if (callbacks.missedWritable) {
      callbacks.missedWritable = false;
      native.notifyWritable(slot);
      turn.touched();
    }
    return this;
  }

  cork(callback) {
    HttpResponse.#open(this);
    checkFunction(callback, 'res.cork(callback)');
    callback();
    return this;
  }

  collect(callback) {
    return this.cork(callback);
  }

  // --- The request's body, and the end ----------------------------------------------------------

  onAborted(handler) {
    HttpResponse.#open(this);
    checkFunction(handler, 'res.onAborted(handler)');
    HttpResponse.#callbacksMade(this).aborted = handler;
    return this;
  }

  onData(handler) {
    HttpResponse.#open(this);
    checkFunction(handler, 'res.onData(handler)');
    HttpResponse.#callbacksMade(this).keepsPieces = false;
    HttpResponse.#read(this, handler);
    return this;
  }

  collectBody(maxSize, handler) {
    HttpResponse.#open(this);
    checkSize(maxSize, 'res.collectBody(maxSize, handler) expects maxSize to be');
    checkFunction(handler, 'res.collectBody(maxSize, handler)');
    HttpResponse.#callbacksMade(this).keepsPieces = true;
    const collector = new BodyCollector(maxSize, handler);
    HttpResponse.#read(this, (piece, isLast) => collector.add(piece, isLast));
    return this;
  }

  discardBody() {
    const slot = HttpResponse.#open(this);
    const callbacks = HttpResponse.#callbacksMade(this);
    callbacks.data = undefined;
    callbacks.discards = true;
    callbacks.isPaused = false;
    native.releaseBody(slot);
  }

  /** Has the body delivered to `handler` from now on. */
  static #read(response, handler) {
    const slot = response.#slot;
    const callbacks = response.#callbacks;
    callbacks.data = handler;
    callbacks.discards = false;
    const state = native.bodyState(slot);
    if ((state & BODY_EXISTS) === 0) {
      if (!callbacks.isEmptyTold)
        queueMicrotask(() => HttpResponse.#deliver(response, new ArrayBuffer(0), true));
      callbacks.isEmptyTold = true;
    } else if ((state & BODY_IS_HELD) !== 0 && !callbacks.isPaused) {
      native.releaseBody(slot);
    }
  }

  pause() {
    const slot = HttpResponse.#open(this);
    HttpResponse.#callbacksMade(this).isPaused = true;
    native.pauseBody(slot);
    return this;
  }

  resume() {
    const slot = HttpResponse.#open(this);
    const callbacks = this.#callbacks;
    if (callbacks === undefined || !callbacks.isPaused) return this;
    callbacks.isPaused = false;
    native.releaseBody(slot);
    return this;
  }

  // --- The peer ---------------------------------------------------------------------------------

  getRemoteAddress() {
    return native.remoteAddress(HttpResponse.#open(this));
  }

  getRemoteAddressAsText() {
    return new TextEncoder().encode(native.remoteAddressText(HttpResponse.#open(this))).buffer;
  }

  getRemotePort() {
    return native.remotePort(HttpResponse.#open(this));
  }

  getProxiedRemoteAddress() {
    HttpResponse.#open(this);
    return new ArrayBuffer(0);
  }

  getProxiedRemoteAddressAsText() {
    HttpResponse.#open(this);
    return new ArrayBuffer(0);
  }

  getProxiedRemotePort() {
    HttpResponse.#open(this);
    return 0;
  }

  // --- Inside -----------------------------------------------------------------------------------
  // Static: private instance methods would cost every response a field more.

  static #open(response) {
    if (response.#head === GONE) throwGone();
    return response.#slot;
  }

  static #callbacksMade(response) {
    return (response.#callbacks ??= new Callbacks());
  }

  static #finish(response, slot) {
    response.#head = GONE;
    response.#callbacks = undefined;
    if (turn.response === response) turn.response = undefined;
    else responses[slot] = undefined;
  }

  static #deliver(response, chunk, isLast) {
    const callbacks = response.#callbacks;
    const handler = callbacks?.data;
    if (handler === undefined) return;
    const { keepsPieces } = callbacks;
    try {
      handler(chunk, isLast);
    } catch (error) {
      turn.fail(response, error);
    }
    if (chunk.byteLength > 0 && !keepsPieces) native.detach(chunk);
  }

  static #body(response, slot, offset, length, isLast) {
    const callbacks = HttpResponse.#callbacksMade(response);
    if (callbacks.discards) return;
    const isWanted = callbacks.data !== undefined && !callbacks.isPaused;
    if (isWanted && callbacks.heldInBatch !== turn.batch) {
      HttpResponse.#deliver(response, receiveMemory.slice(offset, offset + length), isLast);
      return;
    }
    callbacks.heldInBatch = turn.batch;
    native.holdBody(slot, offset, length, isLast);
    if (isWanted) native.releaseBody(slot);
  }

  static #writable(response, slot) {
    const callbacks = HttpResponse.#callbacksMade(response);
    const handler = callbacks.writable;
    if (handler === undefined) {
      callbacks.missedWritable = true;
      return;
    }
    try {
      const isDone = handler(native.writeOffset(slot));
      if (isDone === false && response.#head !== GONE) native.notifyWritable(slot);
    } catch (error) {
      turn.fail(response, error);
    }
  }

  static #answerError(response) {
    const slot = response.#slot;
    if (response.#head === SENT) {
      response.close();
      return;
    }
    native.end(slot, '500 Internal Server Error\r\n', 'Internal Server Error', true);
    HttpResponse.#finish(response, slot);
    turn.touched();
  }

  static {
    isOpen = (response) => response.#head !== GONE;
    isBegun = (response) => response.#head === SENT;
    hasCallbacks = (response) => {
      const callbacks = response.#callbacks;
      return (
        callbacks !== undefined &&
        (callbacks.discards ||
          (callbacks.aborted ?? callbacks.data ?? callbacks.writable) !== undefined)
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
      HttpResponse.#finish(response, slot);
      if (handler !== undefined) handler();
    };
    deliverBody = (slot, offset, length, isLast) => {
      const response = find(slot);
      if (response !== undefined) HttpResponse.#body(response, slot, offset, length, isLast);
    };
    deliverWritable = (slot) => {
      const response = find(slot);
      if (response !== undefined) HttpResponse.#writable(response, slot);
    };
    keep = (response) => {
      responses[response.#slot] = response;
    };
    answerError = (response) => HttpResponse.#answerError(response);
    slotOf = (response) => response.#slot;
    forget = (response) => HttpResponse.#finish(response, response.#slot);
  }
}

hideConstructor(HttpResponse);
