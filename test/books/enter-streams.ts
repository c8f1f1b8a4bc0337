import type { Books } from '../../src/books/engine/books.ts';
import type { DamagedRow, EntryRow, PaymentRow } from '../../src/books/engine/tables.ts';
import { decodeItem, keepDamaged } from '../../src/books/ingest/stream-item.ts';
import { isLost } from '../../src/books/stream/is-lost.ts';
import { readStreamPage, STREAM_PAGE_MAX } from '../../src/books/stream/read-stream.ts';
import { cursorOf } from '../../src/books/writing/cursors.ts';
import { readIngestion, writeBatch } from '../../src/books/writing/write-batch.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';

type Connection = Pick<RedisConnection, 'client' | 'send'>;

/** Enters what the streams of some buckets have behind the cursors of the books. */
export async function enterStreams(
  books: Books,
  connection: Connection,
  buckets: readonly number[],
): Promise<void> {
  const { version, cursors } = await readIngestion(books);
  const after = new Map(cursors);
  const entries: EntryRow[] = [];
  const payments: PaymentRow[] = [];
  const damaged: DamagedRow[] = [];
  for (const bucket of buckets) {
    for (let isLast = false; !isLast; ) {
      const range = { after: cursorOf(after, bucket), until: '+' };
      const page = await readStreamPage(connection, bucket, range);
      for (const item of page.map((entry) => decodeItem(bucket, entry, () => 100))) {
        if (item.content.is === 'entry') entries.push(item.content.row);
        else if (item.content.is === 'payment') payments.push(item.content.row);
        else damaged.push(keepDamaged(item, Date.now()));
        after.set(bucket, item.id);
      }
      isLast = page.length < STREAM_PAGE_MAX;
    }
  }
  const batch = { version, cursors: after, entries, payments, damaged, gaps: [] };
  const context = { isLost: (stored: EntryRow) => isLost(connection, stored), nowMs: Date.now() };
  await writeBatch(books, batch, context);
}
