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

  /**
   * The request whose handler is running.
   *
   * @type {import('./http-request.js').HttpRequest | undefined}
   */
  request: undefined,

  /**
   * And its response, until it is complete.
   *
   * @type {import('./http-response.js').HttpResponse | undefined}
   */
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

  /**
   * Tells the responses of these slots that they are aborted. Set by the dispatcher.
   *
   * @type {(slots: number[]) => void}
   */
  abortAll: () => {},

  /**
   * A function of the program threw while it was handling a response. Set by the dispatcher.
   *
   * @type {(response: unknown, error: unknown) => void}
   */
  fail: () => {},
};
