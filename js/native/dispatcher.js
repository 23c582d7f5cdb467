// The one crossing of a turn: handles a batch of events.
//
// Events are handled in the order in which they came. A function of the program that throws costs
// its own exchange only. C++ sees to it that a batch does not run for long (node/batch_pace.h).

import { native } from './addon.js';
import {
  BODY_IS_LAST,
  commandMemory,
  EVENT_ABORTED,
  EVENT_BATCH,
  EVENT_BODY,
  EVENT_COUNT,
  EVENT_REQUEST,
  EVENT_WORDS,
  EVENT_WRITABLE,
  eventMemory,
  EVENTS_BEGIN,
  eventWords,
  KIND_MASK,
  NO_ROUTE,
  receiveMemory,
} from './memory.js';
import { HttpRequest, isYielding } from './http-request.js';
import {
  abort,
  answerError,
  deliverBody,
  deliverWritable,
  forget,
  hasCallbacks,
  HttpResponse,
  isBegun,
  isOpen,
  keep,
  slotOf,
} from './http-response.js';
import { turn } from './turn.js';

/** Routes by number; undefined where one was taken away. */
const routes = [];

/** Responses whose handler has returned without an answer, and which asked for nothing. */
let unanswered = [];

export function addRoute(route) {
  routes.push(route);
  return routes.length - 1;
}

export function forgetRoute(number) {
  routes[number] = undefined;
}

/** The handler of the running request has returned without an answer. */
function finishRequest(response, result, route) {
  keep(response);
  turn.response = undefined;
  if (result !== null && typeof result === 'object' && typeof result.then === 'function') {
    result.then(
      () => lookAfter(response, route),
      (error) => turn.fail(response, error),
    );
    return;
  }
  lookAfter(response, route);
}

/** Nobody may be left to answer: then the peer must not wait for ever. */
function lookAfter(response, route) {
  if (!isOpen(response) || hasCallbacks(response)) return;
  if (unanswered.length === 0) setImmediate(answerUnanswered);
  unanswered.push({ response, route });
}

function answerUnanswered() {
  const entries = unanswered;
  unanswered = [];
  for (const { response, route } of entries) {
    if (!isOpen(response) || hasCallbacks(response)) continue;
    process.emitWarning(
      `The handler of ${route.method || 'ANY'} ${route.pattern} returned without an answer and ` +
        'without onAborted, onData or onWritable; the request is answered with 500.',
      { code: 'MILLRACE_UNANSWERED' },
    );
    tryAnswerError(response);
  }
}

function tryAnswerError(response) {
  try {
    answerError(response);
  } catch {
    // Its connection went meanwhile; there is nobody left to answer.
  }
}

/** A request whose handler can see it. */
function handleRequest(response, route, index) {
  const { handler } = route; // called without a receiver
  const request = new HttpRequest(index);
  turn.request = request;
  const result = handler(response, request);
  turn.request = undefined;
  if (turn.response === undefined) return;
  if (isYielding(request) && !isBegun(response)) passOn(response, index, route);
  else finishRequest(response, result, route);
}

/** The handler yielded: the next candidates get the request. */
function passOn(response, index, first) {
  let route = first;
  while (true) {
    const number = native.nextRoute(route.app, index);
    if (number === NO_ROUTE) {
      native.answerNotFound(route.app, index, slotOf(response));
      forget(response);
      return;
    }
    route = routes[number];
    if (route === undefined) continue;
    const { handler } = route;
    const request = new HttpRequest(index);
    turn.request = request;
    const result = handler(response, request);
    turn.request = undefined;
    if (turn.response === undefined) return;
    if (isYielding(request) && !isBegun(response)) continue;
    finishRequest(response, result, route);
    return;
  }
}

/** Handles an event that is not a request. */
function handlePart(word) {
  const kind = eventWords[word];
  const slot = eventWords[word + 1];
  switch (kind & KIND_MASK) {
    case EVENT_BODY:
      deliverBody(slot, eventWords[word + 2], eventWords[word + 3], (kind & BODY_IS_LAST) !== 0);
      break;
    case EVENT_ABORTED:
      abort(slot);
      break;
    case EVENT_WRITABLE:
      deliverWritable(slot);
      break;
    default: // withdrawn
  }
}

/** A route that was taken away after its request had come. */
const missingRoute = {
  app: 0,
  method: '',
  pattern: '',
  wantsRequest: false,
  handler(response) {
    response.writeStatus('404 Not Found').end('Not Found');
  },
};

/** The handler that is running threw. */
function failRunning(error) {
  const { response } = turn;
  turn.request = undefined;
  turn.fail(response, error);
  if (response !== undefined && isOpen(response)) keep(response); // its abort is under way
  turn.response = undefined;
}

/** Handles the batch that lies in the memory for events. */
function dispatch() {
  const end = EVENTS_BEGIN + eventWords[EVENT_COUNT] * EVENT_WORDS;
  let next = EVENTS_BEGIN;
  turn.batch = eventWords[EVENT_BATCH];
  turn.isDispatching = true;
  // The catch is outside the loop: entering it once a batch costs nothing.
  while (next < end) {
    try {
      while (next < end) {
        const word = next;
        next += EVENT_WORDS;
        if (eventWords[word] !== EVENT_REQUEST) {
          handlePart(word);
          continue;
        }
        const route = routes[eventWords[word + 2]] ?? missingRoute;
        const response = new HttpResponse(eventWords[word + 1]);
        turn.response = response; // until it is complete, or its handler has returned
        if (route.wantsRequest) {
          handleRequest(response, route, eventWords[word + 3]);
        } else {
          const { handler } = route; // called without a receiver
          const result = handler(response);
          if (turn.response !== undefined) finishRequest(response, result, route);
        }
      }
    } catch (error) {
      failRunning(error);
    }
  }
  turn.isDispatching = false;
}

turn.fail = (response, error) => {
  if (response !== undefined && isOpen(response)) tryAnswerError(response);
  // If nobody catches the error the process ends here: what others were answered must be out.
  native.flushNow();
  native.reportError(error);
};

turn.abortAll = (slots) => {
  for (const slot of slots) {
    try {
      abort(slot);
    } catch (error) {
      turn.fail(undefined, error);
    }
  }
};

let isStarted = false;

/** Starts the engine of this thread, once. */
export function start() {
  if (isStarted) return;
  const mayUseRing = process.env.MILLRACE_IO_URING !== '0';
  native.start(eventMemory, commandMemory, receiveMemory, dispatch, mayUseRing);
  isStarted = true;
  process.on('exit', () => native.flushNow());
}
