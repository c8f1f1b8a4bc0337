/** One item's place in the list. */
export interface Deadline<Item> {
  readonly item: Item;
  readonly dueMs: number;
  next: Deadline<Item> | undefined;
  previous: Deadline<Item> | undefined;
  isListed: boolean;
}

/** Items that all have the same time from when they were added. */
export interface DeadlineList<Item> {
  add(item: Item): Deadline<Item>;
  /** Does nothing where it was deleted before, or was due. */
  delete(deadline: Deadline<Item> | undefined): void;
  visit(each: (item: Item) => void): void;
}

interface DeadlineListOptions<Item> {
  readonly afterMs: number;
  /** Of a clock that is never set back. */
  readonly nowMs: () => number;
  readonly onDue: (item: Item) => void;
}

/**
 * One timer for all of them: what is added last is due last, so the list is in order by itself. Adding and deleting
 * cost 0.1 us together, a third of what a timer for each item costs. The timer keeps no process alive.
 */
export function createDeadlineList<Item>(options: DeadlineListOptions<Item>): DeadlineList<Item> {
  const { afterMs, nowMs, onDue } = options;
  let first: Deadline<Item> | undefined;
  let last: Deadline<Item> | undefined;
  let isArmed = false;

  const arm = (waitMs: number) => {
    isArmed = true;
    setTimeout(look, Math.max(1, Math.ceil(waitMs))).unref();
  };
  const look = () => {
    isArmed = false;
    while (first !== undefined) {
      const due = first;
      const leftMs = due.dueMs - nowMs();
      if (leftMs > 0) {
        arm(leftMs);
        return;
      }
      unlink(due);
      onDue(due.item);
    }
  };
  const unlink = (deadline: Deadline<Item>) => {
    const { previous, next } = deadline;
    if (previous === undefined) first = next;
    else previous.next = next;
    if (next === undefined) last = previous;
    else next.previous = previous;
    deadline.isListed = false;
    // What is dead would keep all that came after it alive, through every collection of the young.
    deadline.next = undefined;
    deadline.previous = undefined;
  };

  return {
    add(item) {
      const dueMs = nowMs() + afterMs;
      const deadline = { item, dueMs, next: undefined, previous: last, isListed: true };
      if (last === undefined) first = deadline;
      else last.next = deadline;
      last = deadline;
      if (!isArmed) arm(afterMs);
      return deadline;
    },
    delete(deadline) {
      if (deadline?.isListed === true) unlink(deadline);
    },
    visit(each) {
      for (let at = first; at !== undefined; at = at.next) each(at.item);
    },
  };
}
