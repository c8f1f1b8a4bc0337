import type { ListedEvent } from '../list/event-list.ts';

/** An event on its way to a webhook. */
export interface WaitingEvent extends ListedEvent {
  attempts: number;
  /** Not before this moment. */
  dueMs: number;
}

export interface AccountQueues {
  size(): number;
  sizeOf(accountId: string): number;
  add(listed: ListedEvent): void;
  /** Takes the first event that is due, of an account that has none under way. */
  take(isDue: (dueMs: number) => boolean): WaitingEvent | undefined;
  /** The event is no longer under way, and is tried again later. */
  giveBack(waiting: WaitingEvent): void;
  /** The event is done, and the next one of its account may come. */
  remove(waiting: WaitingEvent): void;
  /** The lowest number that is not done; infinite if all are. */
  first(): number;
}

/** Events of an account keep their order; those of other accounts overtake one that is late. */
export function createAccountQueues(): AccountQueues {
  const queues = new Map<string, WaitingEvent[]>();
  const busy = new Set<string>();
  let size = 0;
  return {
    size: () => size,
    sizeOf: (accountId) => queues.get(accountId)?.length ?? 0,
    add(listed) {
      const { accountId } = listed.event;
      const queue = queues.get(accountId) ?? [];
      queue.push({ ...listed, attempts: 0, dueMs: 0 });
      queues.set(accountId, queue);
      size += 1;
    },
    take(isDue) {
      for (const [accountId, [head]] of queues) {
        if (head === undefined || busy.has(accountId) || !isDue(head.dueMs)) continue;
        busy.add(accountId);
        return head;
      }
      return undefined;
    },
    giveBack: ({ event }) => void busy.delete(event.accountId),
    remove({ number, event: { accountId } }) {
      const queue = queues.get(accountId) ?? [];
      const left = queue.filter((each) => each.number !== number);
      if (left.length === 0) queues.delete(accountId);
      else queues.set(accountId, left);
      busy.delete(accountId);
      size -= queue.length - left.length;
    },
    first() {
      let lowest = Infinity;
      for (const [head] of queues.values()) lowest = Math.min(lowest, head?.number ?? Infinity);
      return lowest;
    },
  };
}
