import { AUDIT_KEY } from '../../../redis/redis-keys.ts';
import type { AuditRow } from '../../engine/audit-row.ts';
import type { StreamId } from '../../stream/stream-id.ts';
import { decodeAuditEntry } from '../../writing/decode-audit-entry.ts';
import type { QuestionContext } from '../question.ts';
import { yieldTurn } from '../yield-turn.ts';

const ENTRIES_AT_ONCE = 500;

type StreamEntry = readonly [id: StreamId, fields: readonly string[]];

/** The entries of the audit log that are not in the books yet. Redis has 20,000 entries at most. */
export async function readWaiting(
  { connection, share }: Pick<QuestionContext, 'connection' | 'share'>,
  auditCursor: StreamId,
  signal: AbortSignal,
): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for (let after = auditCursor; ; ) {
    await yieldTurn(signal);
    const range = [AUDIT_KEY, `(${after}`, '+', 'COUNT', String(ENTRIES_AT_ONCE)];
    const page = (await connection.send('xrange', range)) as StreamEntry[];
    share.add(page.length);
    for (const entry of page) {
      const row = decodeOrSkip(entry);
      if (row !== undefined) rows.push(row);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < ENTRIES_AT_ONCE) return rows;
    after = last[0];
  }
}

/** Undefined for damage, which the books keep as it is. */
function decodeOrSkip([id, fields]: StreamEntry): AuditRow | undefined {
  try {
    return decodeAuditEntry(id, fields);
  } catch {
    return undefined;
  }
}
