import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { AUDIT_KEY } from '../../redis/redis-keys.ts';
import type { AuditRow } from '../engine/audit-row.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import type { DamagedRow } from '../engine/tables.ts';
import { createAgedPlaces } from '../stream/aged-places.ts';
import { readSpan } from '../stream/audit-bucket.ts';
import { REREAD_MS } from '../stream/late-entries.ts';
import { readPageOf, STREAM_PAGE_MAX, type StreamEntry } from '../stream/read-stream.ts';
import {
  compareStreamIds,
  laterStreamId,
  NUMBER_MAX,
  rewindStreamId,
  STREAM_START,
  type StreamId,
  streamIdBefore,
} from '../stream/stream-id.ts';
import { decodeAuditEntry } from '../writing/decode-audit-entry.ts';
import { StaleBatchError } from '../writing/write-batch.ts';
import { markDatabaseErrors } from './database-error.ts';
import type { IngestPace } from './ingest-pace.ts';
import { readAccountNames, readKeyNames } from './names/read-names.ts';
import { writeNames } from './names/write-names.ts';
import { keepDamaged } from './stream-item.ts';

/** Stands in for the bucket where damaged entries are kept. */
const AUDIT_BUCKET = -1;
const DAMAGED = 'an entry of the audit log cannot be read; the books keep its bytes';

export interface AuditReader {
  /** Takes the next page of the audit log into the books; true when there is no more. */
  readPage(untilMs: number): Promise<boolean>;
}

export interface AuditReaderOptions {
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  readonly books: Books;
  readonly clock: Clock;
  readonly log: Log;
  readonly pace: Pick<IngestPace, 'entryAgeMs'>;
}

/** Like the reader of the streams, it first reads the last minutes once more. */
export function createAuditReader(
  auditCursor: StreamId,
  { connection, books, clock, log, pace }: AuditReaderOptions,
): AuditReader {
  const readable = createAgedPlaces(pace.entryAgeMs);
  let cursor = auditCursor;
  let read: StreamId | undefined;

  const findStart = async (): Promise<StreamId> => {
    const { floor } = await readSpan(connection, AUDIT_KEY);
    if (compareStreamIds(floor, cursor) > 0) {
      const missing = { after: cursor, until: floor };
      log.error(missing, 'the books lack a part of the audit log: Redis had dropped it before');
    }
    const [atCursor] = await readPageOf(connection, AUDIT_KEY, {
      after: cursor === STREAM_START ? cursor : streamIdBefore(cursor),
      until: cursor,
    });
    return atCursor === undefined ? floor : laterStreamId(rewindStreamId(cursor, REREAD_MS), floor);
  };

  return {
    async readPage(untilMs) {
      read ??= await findStart();
      const { last: end } = await readSpan(connection, AUDIT_KEY);
      readable.note(new Map([[AUDIT_BUCKET, end]]));
      const until = `${Math.max(0, untilMs)}-${NUMBER_MAX}`;
      const range = {
        after: read,
        until: laterStreamId(until, readable.of(AUDIT_BUCKET) ?? until),
      };
      const entries = await readPageOf(connection, AUDIT_KEY, range);
      const last = entries.at(-1)?.id;
      if (last === undefined) return true;
      const { rows, damaged } = decodePage(entries, clock.nowMs(), log);
      const accounts = await readAccountNames(connection, listNamed(rows, 'account'));
      const keys = await readKeyNames(connection, listNamed(rows, 'key'));
      const after = laterStreamId(cursor, last);
      const write = books.db.transaction().execute(async (tx) => {
        await moveAuditCursor(tx, cursor, after);
        await writeRows(tx, rows, damaged);
        await writeNames(tx, accounts, keys);
      });
      await markDatabaseErrors(write);
      cursor = after;
      read = last;
      return entries.length < STREAM_PAGE_MAX;
    },
  };
}

function decodePage(entries: readonly StreamEntry[], nowMs: number, log: Log) {
  const rows: AuditRow[] = [];
  const damaged: DamagedRow[] = [];
  for (const entry of entries) {
    try {
      rows.push(decodeAuditEntry(entry.id, entry.fields.map(String)));
    } catch (reason) {
      log.error({ id: entry.id, err: reason }, DAMAGED);
      damaged.push(keepDamaged({ ...entry, bucket: AUDIT_BUCKET }, nowMs));
    }
  }
  return { rows, damaged };
}

async function moveAuditCursor(tx: BooksTransaction, from: StreamId, to: StreamId): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('ingestion')
    .set({ audit_cursor: to })
    .where('audit_cursor', '=', from)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new StaleBatchError('the books have moved on');
}

async function writeRows(
  tx: BooksTransaction,
  rows: readonly AuditRow[],
  damaged: readonly DamagedRow[],
): Promise<void> {
  if (rows.length > 0) {
    const insert = tx.insertInto('audit').values(rows);
    await insert.onConflict((conflict) => conflict.doNothing()).execute();
  }
  if (damaged.length > 0) {
    const insert = tx.insertInto('damaged').values(damaged);
    await insert.onConflict((conflict) => conflict.doNothing()).execute();
  }
}

function listNamed(rows: readonly AuditRow[], name: 'account' | 'key'): string[] {
  const ids = rows.map((row) => row[name]);
  return [...new Set(ids)].filter((id) => id !== null);
}
