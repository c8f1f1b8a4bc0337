import type { AuditEntry } from '../../accounts/audit/audit-entry.ts';
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
  msOfStreamId,
  NUMBER_MAX,
  rewindStreamId,
  STREAM_START,
  type StreamId,
  seqOfStreamId,
  streamIdBefore,
} from '../stream/stream-id.ts';
import { StaleBatchError } from '../writing/write-batch.ts';
import { markDatabaseErrors } from './database-error.ts';
import type { IngestPace } from './ingest-pace.ts';
import { readAccountNames, readKeyNames } from './names/read-names.ts';
import { writeNames } from './names/write-names.ts';
import { keepDamaged } from './stream-item.ts';

/** In the place of a bucket where damaged entries are kept. */
const AUDIT_BUCKET = -1;
/** Places of entries that were written again after a failover are told apart by this much. */
const PLACES_PER_MS = 2 ** 20;
const DAMAGED = 'an entry of the audit log cannot be read; the books keep its bytes';

export interface AuditReader {
  /** Takes the next page of the audit log into the books; true when there is no more. */
  readPage(untilMs: number): Promise<boolean>;
}

export interface AuditReaderOptions {
  /** Of the accounts and keys. */
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly auditConnection: Pick<RedisConnection, 'client' | 'send'>;
  readonly books: Books;
  readonly clock: Clock;
  readonly log: Log;
  readonly pace: Pick<IngestPace, 'entryAgeMs'>;
}

/** Like the reader of the streams, it reads the last minutes once more at first. */
export function createAuditReader(
  auditCursor: StreamId,
  { connection, auditConnection, books, clock, log, pace }: AuditReaderOptions,
): AuditReader {
  const readable = createAgedPlaces(pace.entryAgeMs);
  let cursor = auditCursor;
  let read: StreamId | undefined;

  const findStart = async (): Promise<StreamId> => {
    const { floor } = await readSpan(auditConnection, AUDIT_KEY);
    if (compareStreamIds(floor, cursor) > 0) {
      const missing = { after: cursor, until: floor };
      log.error(missing, 'the books lack a part of the audit log: Redis had dropped it before');
    }
    const [atCursor] = await readPageOf(auditConnection, AUDIT_KEY, {
      after: cursor === STREAM_START ? cursor : streamIdBefore(cursor),
      until: cursor,
    });
    return atCursor === undefined ? floor : laterStreamId(rewindStreamId(cursor, REREAD_MS), floor);
  };

  return {
    async readPage(untilMs) {
      read ??= await findStart();
      const { last: end } = await readSpan(auditConnection, AUDIT_KEY);
      readable.note(new Map([[AUDIT_BUCKET, end]]));
      const until = `${Math.max(0, untilMs)}-${NUMBER_MAX}`;
      const range = {
        after: read,
        until: laterStreamId(until, readable.of(AUDIT_BUCKET) ?? until),
      };
      const entries = await readPageOf(auditConnection, AUDIT_KEY, range);
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
      rows.push(decodeAuditEntry(entry));
    } catch (reason) {
      log.error({ id: entry.id, err: reason }, DAMAGED);
      damaged.push(keepDamaged({ ...entry, bucket: AUDIT_BUCKET }, nowMs));
    }
  }
  return { rows, damaged };
}

/**
 * Reads what `accounts/audit/note.lua` writes. The time is that of the first writing: after a
 * failover the same entry may stand at a later place.
 */
function decodeAuditEntry({ id, fields }: StreamEntry): AuditRow {
  const [idName, entryId = '', atName, at, entryName, entry = ''] = fields.map(String);
  const ms = Number(at);
  if (idName !== 'id' || atName !== 'at' || entryName !== 'entry' || !Number.isSafeInteger(ms)) {
    throw new Error('it has other fields than an entry of the audit log');
  }
  const { what, who, node, account, key, outcome, before, after } = JSON.parse(entry) as AuditEntry;
  const lateMs = Math.max(0, msOfStreamId(id) - ms);
  const seq = Math.min(lateMs * PLACES_PER_MS + seqOfStreamId(id), Number.MAX_SAFE_INTEGER);
  return {
    ...{ entry: clean(entryId), ms, seq },
    ...{ what: cleanText(what), via: cleanText(who.via) },
    ...{ token: cleanIfAny(who.token), address: cleanIfAny(who.address), node: cleanText(node) },
    ...{ account: cleanIfAny(account), key: cleanIfAny(key), outcome: cleanText(outcome) },
    ...{ before: encodeIfAny(before), after: encodeIfAny(after) },
    ...{ operator: cleanIfAny(who.operator?.id), operator_name: cleanIfAny(who.operator?.name) },
  };
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

/** Throws unless it is a text. Postgres takes no zero bytes in one. */
function cleanText(value: unknown): string {
  if (typeof value !== 'string') throw new Error(`${typeof value} is no text`);
  return clean(value);
}

function cleanIfAny(value: unknown): string | null {
  return value === null || value === undefined ? null : cleanText(value);
}

function clean(text: string): string {
  return text.replaceAll('\0', '');
}

/** JSON has no zero bytes. */
function encodeIfAny(value: object | null | undefined): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
