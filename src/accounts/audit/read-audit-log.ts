import type { RedisConnection } from '../../redis/connect-redis.ts';
import { AUDIT_KEY } from '../../redis/redis-keys.ts';
import { DirectoryError } from '../directory-error.ts';
import type { RecordStore } from '../record-store.ts';
import type { AuditEntry, AuditRecord } from './audit-entry.ts';

const ENTRIES_AT_ONCE = 500;

export interface AuditQuery {
  readonly fromMs?: number | undefined;
  /** Entries before this moment; the moment itself is not included. */
  readonly toMs?: number | undefined;
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  /** Continues after the entry with this id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface AuditList {
  /** The newest first. */
  readonly records: readonly AuditRecord[];
  /** The value of `before` for the next page; undefined on the last page. */
  readonly next: string | undefined;
}

export async function readAuditLog(
  connection: Pick<RedisConnection, 'send'>,
  store: RecordStore,
  query: AuditQuery,
): Promise<AuditList> {
  const { fromMs, toMs, before, limit } = query;
  if (before !== undefined && !/^\d{1,15}-\d{1,15}$/.test(before)) {
    throw new DirectoryError('invalid_cursor', `${before} is not the id of an entry`);
  }
  const start = fromMs === undefined ? '-' : String(fromMs);
  let end = before === undefined ? endOf(toMs) : `(${before}`;
  const records: AuditRecord[] = [];
  for (;;) {
    const range = [AUDIT_KEY, end, start, 'COUNT', String(ENTRIES_AT_ONCE)];
    const found = (await store.ask(() => connection.send('xrevrange', range))) as StreamEntry[];
    for (const [id, fields] of found) {
      const record = decodeRecord(id, fields);
      if (isWanted(record, query)) records.push(record);
      if (records.length >= limit) return { records, next: id };
    }
    const last = found.at(-1);
    if (last === undefined || found.length < ENTRIES_AT_ONCE) return { records, next: undefined };
    end = `(${last[0]}`;
  }
}

type StreamEntry = readonly [id: string, fields: readonly string[]];

function isWanted(record: AuditRecord, { account, key }: AuditQuery): boolean {
  if (account !== undefined && record.account !== account) return false;
  return key === undefined || record.key === key;
}

function endOf(toMs: number | undefined): string {
  return toMs === undefined ? '+' : `(${toMs}-0`;
}

/** Decodes the fields that `note.lua` writes. */
function decodeRecord(id: string, fields: readonly string[]): AuditRecord {
  const [, , , atMs, , entry] = fields;
  return { ...(JSON.parse(entry ?? '') as AuditEntry), id, atMs: Number(atMs) };
}
