import type { RedisConnection } from '../../../redis/connect-redis.ts';
import type { EntryRow } from '../../engine/tables.ts';
import { forEachBucket } from '../../stream/for-each-bucket.ts';
import { readStreamPage, STREAM_PAGE_MAX, type StreamEntry } from '../../stream/read-stream.ts';
import { laterStreamId } from '../../stream/stream-id.ts';
import { type Cursors, cursorOf } from '../../writing/cursors.ts';
import { decodeEntry } from '../../writing/decode-entry.ts';

interface StreamSearch {
  readonly requestId: string;
  readonly buckets: ReadonlySet<number>;
  /** What is not after these is in the books. */
  readonly cursors: Cursors;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Looks for the entries of a request in what waits to be entered in the books. */
export async function searchStreams(
  connection: Pick<RedisConnection, 'client' | 'send'>,
  { requestId, buckets, cursors, fromMs, untilMs }: StreamSearch,
  signal: AbortSignal,
): Promise<EntryRow[]> {
  const idBytes = Buffer.from(requestId);
  const rows: EntryRow[] = [];
  const { failure } = await forEachBucket(
    () => signal.aborted,
    async (bucket) => {
      if (!buckets.has(bucket)) return;
      let after = laterStreamId(cursorOf(cursors, bucket), `${fromMs}-0`);
      for (let isAtEnd = false; !isAtEnd && !signal.aborted; ) {
        const page = await readStreamPage(connection, bucket, { after, until: String(untilMs) });
        for (const entry of page) {
          if (!entry.fields.some((field) => field.includes(idBytes))) continue;
          const row = decodeOrSkip(bucket, entry);
          if (row?.request === requestId) rows.push(row);
        }
        after = page.at(-1)?.id ?? after;
        isAtEnd = page.length < STREAM_PAGE_MAX;
      }
    },
  );
  signal.throwIfAborted();
  if (failure !== undefined) throw failure;
  return rows;
}

/** Undefined for a payment, and for damage, which `tollgate ledger verify` reports. */
function decodeOrSkip(bucket: number, { id, fields }: StreamEntry): EntryRow | undefined {
  try {
    const decoded = decodeEntry(bucket, id, fields, () => undefined);
    return decoded.is === 'entry' ? decoded.row : undefined;
  } catch {
    return undefined;
  }
}
