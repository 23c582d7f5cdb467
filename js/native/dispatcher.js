// The one crossing of a turn: handles a batch of events.
//
// Order: events are handled in the order in which they came. A function of the program that throws costs
// its own exchange only. A batch is left early, so that its answers are written out, when it has run for
// long, or when a route that is known to be slow comes next.

import { native } from './addon.js';
import { commandMemory, commandWords, eventMemory, eventWords, receiveMemory } from './memory.js';
import {
  BODY_IS_LAST,
  EVENT_ABORTED,
  EVENT_BODY,
  EVENT_REQUEST,
  EVENT_WORDS,
  EVENT_WRITABLE,
  HANDLED_EVENTS_WORD,
  KIND_MASK,
  NO_ROUTE,
} from './protocol.js';
import { HttpRequest, isYielding } from './http-request.js';
import {
  HttpResponse,
  abort,
  answerError,
  deliverBody,
  deliverWritable,
  forget,
  hasCallbacks,
  isOpen,
  keep,
  slotOf,
} from './http-response.js';
import { BatchClock } from './batch-clock.js';
import { turn } from './turn.js';

/** Routes by number; undefined where one was taken away. */
const routes = [];
const clock = new BatchClock();

/** Responses whose handler has returned without an answer and without asking to be told of anything. */
let unanswered = [];

/** The next event of the batch. */
let next = 0;

export function addRoute(route) {
  routes.push(route);
  return routes.length - 1;
}

export function forgetRoute(number) {
  routes[number] = undefined;
}

/** The handler has returned without an answer. */
function finishRequest(response, result, route) {
  keep(response);
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

function handleRequest(slot, route, index) {
  const response = new HttpResponse(slot);
  turn.response = response;
  if (route.wantsRequest) {
    const request = new HttpRequest(index);
    turn.request = request;
    const result = route.handler(response, request);
    turn.request = undefined;
    if (isOpen(response)) {
      if (isYielding(request)) passOn(response, index, route);
      else finishRequest(response, result, route);
    }
  } else {
    const result = route.handler(response);
    if (isOpen(response)) finishRequest(response, result, route);
  }
  turn.response = undefined;
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
    const request = new HttpRequest(index);
    turn.request = request;
    const result = route.handler(response, request);
    turn.request = undefined;
    if (!isOpen(response)) return;
    if (isYielding(request)) continue;
    finishRequest(response, result, route);
    return;
  }
}

function handleEvent(kind, word) {
  const slot = eventWords[word + 1];
  switch (kind & KIND_MASK) {
    case EVENT_REQUEST: {
      const route = routes[eventWords[word + 2]];
      handleRequest(slot, route ?? missingRoute, eventWords[word + 3]);
      break;
    }
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
  cost: 0,
  handler(response) {
    response.writeStatus('404 Not Found').end('Not Found');
  },
};

/** Handles events from `next` on; returns when the batch is to be left. */
function run(count) {
  clock.start();
  while (next < count) {
    const word = next * EVENT_WORDS;
    const kind = eventWords[word];
    const route = kind === EVENT_REQUEST ? routes[eventWords[word + 2]] : undefined;
    if (clock.leavesBefore(route)) return;
    next++;
    handleEvent(kind, word);
    if (clock.leavesAfter(route)) return;
  }
}

function dispatch(count, batch) {
  next = 0;
  turn.batch = batch;
  turn.isDispatching = true;
  // The catch is outside the loop: entering it once a batch costs nothing.
  for (;;) {
    try {
      run(count);
      break;
    } catch (error) {
      const response = turn.response;
      turn.request = undefined;
      turn.fail(response, error);
      if (response !== undefined && isOpen(response)) keep(response); // its abort is under way
      turn.response = undefined;
      if (clock.isOver()) break;
    }
  }
  turn.isDispatching = false;
  clock.finish();
  commandWords[HANDLED_EVENTS_WORD] = next;
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
  native.start(eventMemory, commandMemory, receiveMemory, dispatch);
  isStarted = true;
  process.on('exit', () => native.flushNow());
}
