import { sql } from 'kysely';
import type { BooksTransaction } from '../engine/books.ts';
import { entriesOf } from '../engine/days.ts';
import { LATE_WITHIN_MAX_MS } from '../stream/late-entries.ts';

/** Holds of a day that ran out, and whose requests nobody settled afterwards. */
export interface UnsettledOfDay {
  readonly holds: number;
  readonly held: number;
  readonly charged: number;
  readonly last_ms: number | null;
}

export const NONE_UNSETTLED: UnsettledOfDay = { holds: 0, held: 0, charged: 0, last_ms: null };

/** Those that may be settled yet are not counted. */
export async function sumUnsettled(
  tx: BooksTransaction,
  day: number,
  days: ReadonlySet<number>,
  nowMs: number,
): Promise<UnsettledOfDay> {
  const isSettled = [day, day + 1]
    .filter((other) => days.has(other))
    .map((other) => {
      const late = `late.request = expired.request and late.kind = 'late' and late.account = expired.account`;
      return `and not exists (select 1 from ${entriesOf(other)} as late where ${late})`;
    });
  const { rows } = await sql<UnsettledOfDay>`
    select count(*) as holds, coalesce(sum(held), 0) as held, coalesce(sum(charged), 0) as charged,
      max(ms) as last_ms
    from ${sql.table(entriesOf(day))} as expired
    where kind = 'expired' and ms < ${sql.lit(nowMs - LATE_WITHIN_MAX_MS)}
    ${sql.raw(isSettled.join(' '))}`.execute(tx);
  return rows[0] ?? NONE_UNSETTLED;
}

export function addUnsettled(one: UnsettledOfDay, other: UnsettledOfDay): UnsettledOfDay {
  const last = Math.max(one.last_ms ?? 0, other.last_ms ?? 0);
  return {
    holds: one.holds + other.holds,
    held: one.held + other.held,
    charged: one.charged + other.charged,
    last_ms: last === 0 ? null : last,
  };
}
