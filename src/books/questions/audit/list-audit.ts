import { sql } from 'kysely';
import type { AuditRecord } from '../../../accounts/audit/audit-entry.ts';
import type { AuditRow } from '../../engine/audit-row.ts';
import type { Books } from '../../engine/books.ts';
import { readIngestion } from '../../writing/write-batch.ts';
import { decodePageCursor, encodePageCursor, type Place } from '../page-cursor.ts';
import type { QuestionContext } from '../question.ts';
import { readWaiting } from './read-waiting.ts';

export interface AuditQuery {
  readonly fromMs?: number | undefined;
  /** Entries before this moment; the moment itself is not included. */
  readonly toMs?: number | undefined;
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  /** The `next` of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface AuditPage {
  /** The newest first. */
  readonly records: readonly AuditRecord[];
  readonly next: string | null;
}

/**
 * Lists what operators changed: what waits in Redis, and what is in the books. The cursor of the
 * books is read first and the books last, so that nothing is missed that is entered meanwhile.
 */
export async function listAudit(
  { books, connection, share }: QuestionContext,
  query: AuditQuery,
  signal: AbortSignal,
): Promise<AuditPage> {
  const { limit, before } = query;
  const start = before === undefined ? undefined : decodePageCursor('a', before);
  const { auditCursor } = await readIngestion(books);
  const waiting = await readWaiting({ connection, share }, auditCursor, signal);
  const entered = await readEntered(books, query, start);
  share.add(entered.length);
  const byEntry = new Map(
    waiting.filter((row) => isWanted(row, query, start)).map((row) => [row.entry, row]),
  );
  for (const row of entered) byEntry.set(row.entry, row);
  const rows = [...byEntry.values()].sort((first, second) => -compareRows(first, second));
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    records: page.map(showRow),
    next: last === undefined ? null : encodePageCursor('a', placeOf(last)),
  };
}

function readEntered(
  { db }: Books,
  { fromMs, toMs, account, key, limit }: AuditQuery,
  start: Place | undefined,
): Promise<AuditRow[]> {
  let asked = db.selectFrom('audit').selectAll();
  if (account !== undefined) asked = asked.where('account', '=', account);
  if (key !== undefined) asked = asked.where('key', '=', key);
  if (fromMs !== undefined) asked = asked.where('ms', '>=', fromMs);
  if (toMs !== undefined) asked = asked.where('ms', '<', toMs);
  if (start !== undefined) {
    asked = asked.where(sql<boolean>`(ms, seq) < (${start.ms}, ${start.seq})`);
  }
  // One more shows whether there is another page.
  return asked
    .orderBy('ms', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute();
}

function isWanted(
  row: AuditRow,
  { fromMs, toMs, account, key }: AuditQuery,
  start: Place | undefined,
): boolean {
  if (account !== undefined && row.account !== account) return false;
  if (key !== undefined && row.key !== key) return false;
  if (row.ms < (fromMs ?? 0) || row.ms >= (toMs ?? Number.POSITIVE_INFINITY)) return false;
  return start === undefined || compareRows(row, start) < 0;
}

function compareRows(first: Pick<Place, 'ms' | 'seq'>, second: Pick<Place, 'ms' | 'seq'>): number {
  return first.ms - second.ms || first.seq - second.seq;
}

/** There is one log, so the bucket says nothing. */
function placeOf({ ms, seq }: AuditRow): Place {
  return { ms, bucket: 0, seq };
}

function operatorOf({
  operator: id,
  operator_name: name,
}: AuditRow): AuditRecord['who']['operator'] {
  return id === null ? null : { id, name: name ?? '' };
}

function showRow(row: AuditRow): AuditRecord {
  const { ms, seq, what, via, token, address, node, account, key, outcome } = row;
  return {
    id: `${ms}-${seq}`,
    atMs: ms,
    what,
    who: { via, token, address, operator: operatorOf(row) } as AuditRecord['who'],
    ...{ node, account, key },
    outcome: outcome as AuditRecord['outcome'],
    before: row.before === null ? null : (JSON.parse(row.before) as object),
    after: row.after === null ? null : (JSON.parse(row.after) as object),
  };
}
