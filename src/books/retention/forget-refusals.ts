import { MINUTE_MS } from '../../lib/units/time-units.ts';
import type { Books } from '../engine/books.ts';

const ROWS_AT_ONCE = 5_000;

/**
 * Deletes the counts of refusals of older minutes, a few at a time. Returns how many there were.
 */
export async function forgetRefusals(
  { db }: Pick<Books, 'db'>,
  beforeMs: number,
  signal: AbortSignal,
): Promise<number> {
  const end = Math.floor(beforeMs / MINUTE_MS);
  const findMinute = async (offset: number) => {
    const row = await db
      .selectFrom('refusals')
      .select('minute')
      .where('minute', '<', end)
      .orderBy('minute')
      .limit(1)
      .offset(offset)
      .executeTakeFirst();
    return row?.minute;
  };
  let deleted = 0;
  for (;;) {
    signal.throwIfAborted();
    const first = await findMinute(0);
    if (first === undefined) return deleted;
    // A minute is deleted as a whole.
    const next = Math.max(first + 1, (await findMinute(ROWS_AT_ONCE)) ?? end);
    const { numDeletedRows } = await db
      .deleteFrom('refusals')
      .where('minute', '<', next)
      .executeTakeFirst();
    deleted += Number(numDeletedRows);
  }
}
