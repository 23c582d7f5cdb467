// The state of the turn that several files look at.

import { native } from './addon.js';

let isFlushScheduled = false;

function flushNow() {
  isFlushScheduled = false;
  native.flush();
}

export const turn = {
  /** A batch is being handled: what it gathers is written out at its end. */
  isDispatching: false,

  /** The number of the batch, counted from 1. It may be handled in several parts. */
  batch: 0,

  /** The request and the response whose handler is running. */
  request: undefined,
  response: undefined,

  /** Writes out, at the end of the microtasks under way, what calls from outside a batch gather. */
  scheduleFlush() {
    if (isFlushScheduled) return;
    isFlushScheduled = true;
    queueMicrotask(flushNow);
  },

  touched() {
    if (!turn.isDispatching) turn.scheduleFlush();
  },

  /** Set by the dispatcher: tells the responses of these slots that they are aborted. */
  abortAll: undefined,

  /** Set by the dispatcher: a function of the program threw while it was handling `response`. */
  fail: undefined,
};
