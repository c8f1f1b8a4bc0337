import type { Clock } from '../../lib/time/clock.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { Books } from '../engine/books.ts';
import { migrateBooks } from '../engine/migrate-books.ts';
import {
  holdBooksLease,
  type LeaseReply,
  type Progress,
  releaseBooksLease,
} from '../stream/books-lease.ts';
import { readIngestion } from '../writing/write-batch.ts';
import { markDatabaseErrors } from './database-error.ts';

interface LeaseOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly books: Books;
  readonly run: string;
  readonly leaseMs: number;
  readonly clock: Clock;
}

/** This node's part in deciding who writes the books. */
export interface IngestLease {
  /** Takes it or renews it. The books are created first if there are none. */
  hold(progress: Progress): Promise<LeaseReply & { readonly ownId: string }>;
  /** Whether this node has it, and has not let it run out. */
  isHeld(): boolean;
  /** Never throws: a lease that cannot be given up runs out. */
  release(): Promise<void>;
}

export function createIngestLease(options: LeaseOptions): IngestLease {
  const { connection, books, run, leaseMs, clock } = options;
  let ownId: string | undefined;
  let heldUntilMs = Number.NEGATIVE_INFINITY;

  const prepareBooks = async () => {
    await migrateBooks(books, clock.nowMs());
    return (await readIngestion(books)).books;
  };

  return {
    async hold(progress) {
      ownId ??= await markDatabaseErrors(prepareBooks());
      const order = { run, leaseMs, booksId: ownId, ...progress };
      const askedMs = performance.now();
      const asked = holdBooksLease(connection, order);
      const reply = await asked.catch((error: unknown) => {
        heldUntilMs = Number.NEGATIVE_INFINITY;
        throw error;
      });
      heldUntilMs = reply.state === 'held' ? askedMs + leaseMs : Number.NEGATIVE_INFINITY;
      return { ...reply, ownId };
    },
    isHeld: () => performance.now() < heldUntilMs,
    release() {
      heldUntilMs = Number.NEGATIVE_INFINITY;
      return releaseBooksLease(connection, run).catch(() => {});
    },
  };
}
