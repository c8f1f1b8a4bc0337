import type { Log } from '../../lib/log.ts';
import type { ListEntry, ListedEvent } from '../list/event-list.ts';
import type { AccountQueues } from './account-queues.ts';
import type { Webhook } from './post-webhook.ts';
import { createQueueFiller } from './queue-filler.ts';
import type { SeenEvent, WebhookPlace } from './webhook-store.ts';

const READ_MAX = 100;

export type PageEnd = 'more' | 'end' | 'changed';

export interface ListReader {
  /** The lowest number that is neither done nor in the queues. */
  nextNumber(): number;
  /** The number that was read last. */
  readTo(): number;
  /** How many events are left in the list for lack of room. */
  countPostponed(): number;
  seen(): SeenEvent;
  readPage(): Promise<PageEnd>;
  readPostponed(): Promise<void>;
}

interface ReaderOptions {
  readonly name: string;
  readonly place: WebhookPlace;
  readonly webhook: () => Pick<Webhook, 'events'>;
  readonly readFrom: (number: number, count: number) => Promise<readonly ListEntry[]>;
  readonly onOutcome: (outcome: 'lost', count: number) => void;
  readonly log: Log;
}

interface ReaderParts {
  readonly queues: Pick<AccountQueues, 'add' | 'sizeOf'>;
  /** Notes how far the webhook is, and how many events it has missed. */
  readonly note: (lost: number) => Promise<void>;
}

/** Reads the list from where the webhook left off. */
export function createListReader(
  options: ReaderOptions,
  { queues, note }: ReaderParts,
): ListReader {
  const { name, place, readFrom, onOutcome, log } = options;
  const isWanted = (entry: ListEntry): entry is ListedEvent =>
    entry.event !== undefined &&
    options.webhook().events.includes(entry.event.type) &&
    !place.told.has(entry.number);
  const filler = createQueueFiller({ queues, readFrom, isWanted });
  let lastNumber = place.cursor;
  let { seen } = place;

  // After a failover another event may have the number. Redis compares it again with each note,
  // so that a failover right after the answer does no harm.
  const isOther = ({ number, history }: ListEntry) =>
    number === seen.number && history !== seen.history;
  /** How many events the list has pushed out, except those that were delivered before. */
  const countLost = (firstNumber: number) => {
    const isPushedOut = (number: number) => number > lastNumber && number < firstNumber;
    const pushedOut = Math.max(0, firstNumber - lastNumber - 1);
    return pushedOut > 0 ? pushedOut - [...place.told].filter(isPushedOut).length : 0;
  };
  const logLost = (lost: number) => {
    if (lost === 0) return;
    log.error({ webhook: name, lost }, 'a webhook has missed events: it was too far behind');
    onOutcome('lost', lost);
  };

  return {
    nextNumber: () => Math.min(filler.firstPostponed(), lastNumber + 1),
    readTo: () => lastNumber,
    countPostponed: filler.countPostponed,
    seen: () => seen,
    async readPage() {
      const page = await readFrom(lastNumber, READ_MAX + 1);
      const [first, last] = [page[0], page.at(-1)];
      if (first === undefined || last === undefined) return lastNumber === 0 ? 'end' : 'changed';
      // The page repeats the event that was read last.
      if (page.some(isOther)) return 'changed';
      const lost = countLost(first.number);
      logLost(lost);
      for (const listed of page.filter(isWanted)) {
        if (listed.number > lastNumber) filler.add(listed);
      }
      const isNew = last.number > lastNumber;
      lastNumber = last.number;
      if (last.number > seen.number) seen = { number: last.number, history: last.history };
      if (isNew) await note(lost);
      return page.length > READ_MAX ? 'more' : 'end';
    },
    async readPostponed() {
      const lost = await filler.addPostponed(lastNumber);
      logLost(lost);
      if (lost > 0) await note(lost);
    },
  };
}
