// How long a batch runs before its answers are written out.
//
// Fast handlers share a batch: the clock is looked at once in a stretch of events. As soon as the
// events of a stretch turn out to be costly on average, each is timed, and its route's cost is
// remembered: a route that is slow gets a batch of its own, so that nobody's answer waits for it. A
// route that has never run counts as slow.

const BUDGET_MS = 0.5;
const STRETCH_MAX = 32;
/** Events that cost more than this on average are timed one by one. */
const COSTLY_MS = 0.02;
/** A route that costs more than this runs alone. */
const SLOW_MS = 0.1;
/** Weight of the newest measurement. */
const WEIGHT = 0.25;

/** What a route costs that has never run. */
export const UNKNOWN_COST = Infinity;

const now = () => performance.now();

export class BatchClock {
  #startedAt = 0;
  #stretchAt = 0;
  #stretch = 0; // events since #stretchAt
  #handled = 0; // events since #startedAt
  #eventCost = 0; // estimate, in milliseconds
  #lastRoute = undefined;
  #isOver = false;

  start() {
    this.#startedAt = this.#stretchAt = now();
    this.#stretch = 0;
    this.#handled = 0;
    this.#isOver = false;
  }

  isOver() {
    return this.#isOver;
  }

  /** Whether the batch is to be left before an event of `route`. */
  leavesBefore(route) {
    return this.#handled > 0 && route !== undefined && route.cost > SLOW_MS;
  }

  /** Whether it is to be left after one. */
  leavesAfter(route) {
    this.#handled++;
    this.#stretch++;
    this.#lastRoute = route;
    if (this.#eventCost < COSTLY_MS && this.#stretch < STRETCH_MAX) {
      return route !== undefined && route.cost > SLOW_MS && this.#measure(route);
    }
    return this.#measure(route);
  }

  #measure(route) {
    const time = now();
    const spent = (time - this.#stretchAt) / this.#stretch;
    this.#eventCost += (spent - this.#eventCost) * WEIGHT;
    if (route !== undefined && this.#stretch === 1) {
      route.cost = route.cost === UNKNOWN_COST ? spent : route.cost + (spent - route.cost) * WEIGHT;
    }
    this.#stretchAt = time;
    this.#stretch = 0;
    this.#isOver = time - this.#startedAt > BUDGET_MS;
    return this.#isOver || (route !== undefined && route.cost > SLOW_MS);
  }

  /** The end of a batch: a stretch that was not full still tells what its events cost. */
  finish() {
    if (this.#stretch > 0) this.#measure(this.#lastRoute);
    this.#lastRoute = undefined;
  }
}
