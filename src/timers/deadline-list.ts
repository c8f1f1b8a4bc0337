/**
 * FAST TWIN of `setTimeout`.
 * Held equal by `test/unit/timers/deadlines-as-timers.test.ts`.
 * Gain: 216 to 80 B, AMD EPYC, Node 20.20 (`bench/NOTES.md`, "Fast twins").
 */

import { LinkedList, type ListLinks } from '../lib/collections/linked-list.ts';

/** One item's place in the list. */
export interface Deadline<Item> extends ListLinks<Deadline<Item>> {
  readonly item: Item;
  dueMs: number;
  /** The time by which the list is ordered; never later than `dueMs`. */
  placedMs: number;
}

/** Items that all have the same time from when they were added. */
export interface DeadlineList<Item> {
  add(item: Item): Deadline<Item>;
  /** Restarts the item's time, even if the item was deleted or was due. */
  renew(deadline: Deadline<Item>): void;
  /** Does nothing if the item was deleted before, or was due. */
  delete(deadline: Deadline<Item> | undefined): void;
  visit(each: (item: Item) => void): void;
  /** Deletes an item of those that are due first, and returns it. */
  takeFirst(): Item | undefined;
}

/**
 * A renewed item moves once its new time differs from its place by this share of the whole time.
 */
const RENEWED_SHARE_MAX = 1 / 16;

interface DeadlineListOptions<Item> {
  readonly afterMs: number;
  /** From a clock that is never set back. */
  readonly nowMs: () => number;
  readonly onDue: (item: Item) => void;
}

/**
 * One timer serves all items: an item that is added last is due last, so the list stays in order.
 * The timer does not keep the process alive.
 *
 * An item that is renewed often keeps its place for a while, so that its neighbours are not
 * touched. When its turn comes, it moves to its proper place, near the beginning.
 */
export function createDeadlineList<Item>(options: DeadlineListOptions<Item>): DeadlineList<Item> {
  const { afterMs, nowMs, onDue } = options;
  /** In the order of their times. */
  const places = new LinkedList<Deadline<Item>>();
  let isArmed = false;

  /**
   * In whole milliseconds, which an object stores in itself; any other number takes 16 more bytes.
   */
  const dueFromNow = () => Math.ceil(nowMs() + afterMs);
  const arm = (waitMs: number) => {
    isArmed = true;
    setTimeout(checkDue, Math.max(1, Math.ceil(waitMs))).unref();
  };
  /** It stays armed meanwhile: `onDue` may add to the list, which must not get a second timer. */
  const checkDue = () => {
    for (let due = places.first; due !== undefined; due = places.first) {
      const timeMs = nowMs();
      if (due.placedMs > timeMs) {
        arm(due.placedMs - timeMs);
        return;
      }
      places.delete(due);
      if (due.dueMs > timeMs) insert(due);
      else onDue(due.item);
    }
    isArmed = false;
  };
  const insert = (deadline: Deadline<Item>) => {
    deadline.placedMs = deadline.dueMs;
    let next = places.first;
    while (next !== undefined && next.placedMs <= deadline.placedMs) next = next.next;
    places.insertBefore(deadline, next);
  };
  const append = (deadline: Deadline<Item>) => {
    deadline.dueMs = dueFromNow();
    deadline.placedMs = deadline.dueMs;
    places.append(deadline);
    if (!isArmed) arm(afterMs);
  };

  return {
    add(item) {
      const deadline = createDeadline(item);
      append(deadline);
      return deadline;
    },
    renew(deadline) {
      if (deadline.isListed) {
        deadline.dueMs = dueFromNow();
        if (deadline.dueMs - deadline.placedMs < afterMs * RENEWED_SHARE_MAX) return;
        places.delete(deadline);
      }
      append(deadline);
    },
    delete(deadline) {
      if (deadline !== undefined) places.delete(deadline);
    },
    visit(each) {
      for (const { item } of places) each(item);
    },
    takeFirst() {
      const first = places.first;
      if (first !== undefined) places.delete(first);
      return first?.item;
    },
  };
}

function createDeadline<Item>(item: Item): Deadline<Item> {
  return { item, dueMs: 0, placedMs: 0, next: undefined, previous: undefined, isListed: false };
}
