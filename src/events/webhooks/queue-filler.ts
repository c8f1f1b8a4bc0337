import type { ListEntry, ListedEvent } from '../list/event-list.ts';
import type { AccountQueues } from './account-queues.ts';

/** Events of one account in memory. An account whose events fail leaves room for the others. */
const ACCOUNT_WAITING_MAX = 100;
const READ_MAX = 100;

/** The events of an account that stay in the list for now: one of them and all later ones. */
interface PostponedTail {
  first: number;
  count: number;
  /** Whether the list was found to begin behind `first`. */
  isCutOff: boolean;
}

export interface QueueFiller {
  /** Adds an event to the queue of its account, or postpones it if the queue is full. */
  add(listed: ListedEvent): void;
  /**
   * Reads postponed events again, up to this number, for queues that have room again. Returns how
   * many of them the list no longer has.
   */
  addPostponed(lastNumber: number): Promise<number>;
  /** The lowest number that was postponed; infinite if there is none. */
  firstPostponed(): number;
  countPostponed(): number;
}

interface FillerOptions {
  readonly queues: Pick<AccountQueues, 'add' | 'sizeOf'>;
  readonly readFrom: (number: number, count: number) => Promise<readonly ListEntry[]>;
  readonly isWanted: (entry: ListEntry) => entry is ListedEvent;
}

export function createQueueFiller({ queues, readFrom, isWanted }: FillerOptions): QueueFiller {
  const postponed = new Map<string, PostponedTail>();
  const hasRoom = (accountId: string) => queues.sizeOf(accountId) < ACCOUNT_WAITING_MAX;

  /** Returns false when the queue is full again. */
  const addAgain = (listed: ListedEvent, late: PostponedTail): boolean => {
    late.first = listed.number;
    if (!hasRoom(listed.event.accountId)) return false;
    queues.add(listed);
    late.first += 1;
    late.count -= 1;
    return true;
  };
  const noteStart = (listStart: number, returning: ReadonlyMap<string, PostponedTail>) => {
    for (const late of returning.values()) late.isCutOff ||= listStart > late.first;
  };
  /** Removes the accounts whose queues are full again from `returning`. */
  const addPage = (page: readonly ListEntry[], returning: Map<string, PostponedTail>) => {
    for (const listed of page.filter(isWanted)) {
      const { accountId } = listed.event;
      const late = returning.get(accountId);
      if (late === undefined || listed.number < late.first) continue;
      if (!addAgain(listed, late)) returning.delete(accountId);
    }
  };

  return {
    add(listed) {
      const { accountId } = listed.event;
      const late = postponed.get(accountId);
      if (late !== undefined) late.count += 1;
      else if (hasRoom(accountId)) queues.add(listed);
      else postponed.set(accountId, { first: listed.number, count: 1, isCutOff: false });
    },
    async addPostponed(lastNumber) {
      // Waits until half is free, so that a long list is not read for each event that is done.
      const returning = new Map(
        [...postponed].filter(([id]) => queues.sizeOf(id) <= ACCOUNT_WAITING_MAX / 2),
      );
      const start = lowestOf(returning);
      for (let from = start; returning.size > 0 && from <= lastNumber; ) {
        const page = await readFrom(from, READ_MAX);
        if (from === start) noteStart(page[0]?.number ?? Infinity, returning);
        const known = page.filter(({ number }) => number <= lastNumber);
        addPage(known, returning);
        from = (page.at(-1)?.number ?? lastNumber) + 1;
      }
      let lost = 0;
      for (const [id, { count, isCutOff }] of returning) {
        postponed.delete(id);
        if (isCutOff) lost += Math.max(0, count);
      }
      return lost;
    },
    firstPostponed: () => lowestOf(postponed),
    countPostponed: () => [...postponed.values()].reduce((sum, { count }) => sum + count, 0),
  };
}

function lowestOf(postponed: ReadonlyMap<string, PostponedTail>): number {
  return Math.min(...[...postponed.values()].map(({ first }) => first));
}
