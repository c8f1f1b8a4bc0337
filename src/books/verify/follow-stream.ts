import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { BooksTransaction } from '../engine/books.ts';
import type { EntryRow, PaymentRow } from '../engine/tables.ts';
import { decodeItem } from '../ingest/stream-item.ts';
import { isLost } from '../stream/is-lost.ts';
import { readStreamPage, STREAM_PAGE_MAX, type StreamEntry } from '../stream/read-stream.ts';
import { compareStreamIds, type StreamId } from '../stream/stream-id.ts';
import type { CountedEntry } from '../writing/find-places.ts';
import { eventOf } from '../writing/find-rivals.ts';
import { findNewEntries, findNewPayments, identifyPayment } from './find-new-rows.ts';

/** What an account has paid and spent in the part of the stream that is not in the books. */
interface StreamSums {
  entries: number;
  charged: number;
  paid: number;
  /** By key and month, such as `key_a 202611`. */
  readonly spent: Map<string, number>;
}

/** Reads the stream of a bucket behind the books, further each time. */
export interface StreamFollower {
  /** By account, from the cursor of the books up to the last place. */
  readonly sums: ReadonlyMap<string, StreamSums>;
  readonly damaged: number;
  readTo(last: StreamId): Promise<void>;
}

interface FollowOptions {
  /** The books as they are when their cursor is read. */
  readonly tx: BooksTransaction;
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  readonly bucket: number;
  readonly from: StreamId;
  /** The days that have tables. */
  readonly days: ReadonlySet<number>;
  /** Whether the books have entries behind `from`. */
  readonly isReread: boolean;
}

export function followStream(options: FollowOptions): StreamFollower {
  const { tx, connection, bucket, days, isReread } = options;
  const sums = new Map<string, StreamSums>();
  const seen = new Set<string>();
  let after = options.from;
  let damaged = 0;

  const sumsOf = (account: string) => {
    const known = sums.get(account) ?? { entries: 0, charged: 0, paid: 0, spent: new Map() };
    sums.set(account, known);
    return known;
  };
  const count = ({ account, key, month, charged }: CountedEntry, sign: 1 | -1) => {
    const ofAccount = sumsOf(account);
    ofAccount.entries += sign;
    ofAccount.charged += sign * charged;
    const name = `${key} ${month}`;
    ofAccount.spent.set(name, (ofAccount.spent.get(name) ?? 0) + sign * charged);
  };
  const isFirst = (name: string) => {
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  };

  const enterPage = async (page: readonly StreamEntry[]) => {
    const entries: EntryRow[] = [];
    const payments: PaymentRow[] = [];
    for (const item of page) {
      const { content } = decodeItem(bucket, item, () => undefined);
      if (content.is === 'entry') {
        if (isFirst(eventOf(content.row))) entries.push(content.row);
      } else if (content.is === 'payment') {
        if (isFirst(identifyPayment(content.row))) payments.push(content.row);
      } else damaged++;
    }
    const { added, removed } = await findNewEntries(tx, entries, {
      days,
      isReread,
      isLost: (stored) => isLost(connection, stored),
    });
    for (const entry of added) count(entry, 1);
    for (const entry of removed) count(entry, -1);
    for (const { account, amount } of await findNewPayments(tx, payments)) {
      const ofAccount = sumsOf(account);
      ofAccount.entries++;
      ofAccount.paid += amount;
    }
  };

  return {
    sums,
    get damaged() {
      return damaged;
    },
    async readTo(last) {
      while (compareStreamIds(after, last) < 0) {
        const page = await readStreamPage(connection, bucket, { after, until: last });
        await enterPage(page);
        if (page.length < STREAM_PAGE_MAX) after = last;
        else after = page.at(-1)?.id ?? last;
      }
    },
  };
}
