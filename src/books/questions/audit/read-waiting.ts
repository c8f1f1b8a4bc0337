import type { AuditEntry } from '../../../accounts/audit/audit-entry.ts';
import type { RedisConnection } from '../../../redis/connect-redis.ts';
import { AUDIT_KEY } from '../../../redis/redis-keys.ts';
import type { AuditRow } from '../../engine/audit-row.ts';
import { msOfStreamId, type StreamId, seqOfStreamId } from '../../stream/stream-id.ts';
import { yieldTurn } from '../yield-turn.ts';

const ENTRIES_AT_ONCE = 500;
/**
 * As in the books: entries that were written again after a failover are told apart by this much.
 */
const PLACES_PER_MS = 2 ** 20;

type StreamEntry = readonly [id: StreamId, fields: readonly string[]];

/** The entries of the audit log that are not in the books yet. Redis has 20,000 entries at most. */
export async function readWaiting(
  connection: Pick<RedisConnection, 'send'>,
  auditCursor: StreamId,
  signal: AbortSignal,
): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for (let after = auditCursor; ; ) {
    await yieldTurn(signal);
    const range = [AUDIT_KEY, `(${after}`, '+', 'COUNT', String(ENTRIES_AT_ONCE)];
    const page = (await connection.send('xrange', range)) as StreamEntry[];
    for (const entry of page) {
      const row = decodeOrSkip(entry);
      if (row !== undefined) rows.push(row);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < ENTRIES_AT_ONCE) return rows;
    after = last[0];
  }
}

/** Decodes what `note.lua` writes; undefined for damage, which the books keep as it is. */
function decodeOrSkip([id, fields]: StreamEntry): AuditRow | undefined {
  const [, entryId = '', , at, , entry = ''] = fields;
  try {
    const { what, who, node, account, key, outcome, before, after } = JSON.parse(
      entry,
    ) as AuditEntry;
    const ms = Number(at);
    const lateMs = Math.max(0, msOfStreamId(id) - ms);
    const seq = Math.min(lateMs * PLACES_PER_MS + seqOfStreamId(id), Number.MAX_SAFE_INTEGER);
    return {
      ...{ entry: entryId, ms, seq, what, ...who, node, account, key, outcome },
      // Entries of earlier versions name none.
      ...{ operator: who?.operator?.id ?? null, operator_name: who?.operator?.name ?? null },
      before: before ? JSON.stringify(before) : null,
      after: after ? JSON.stringify(after) : null,
    };
  } catch {
    return undefined;
  }
}
