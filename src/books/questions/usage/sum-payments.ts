import type { Books } from '../../engine/books.ts';
import type { UsageFilter } from './usage-query.ts';

/** In micros: what was paid in, less what was taken back. */
export async function sumPayments(
  { db }: Books,
  { account, fromMs, toMs }: Pick<UsageFilter, 'account' | 'fromMs' | 'toMs'>,
): Promise<number> {
  let asked = db
    .selectFrom('payments')
    .select(({ fn }) => fn.sum<number | null>('amount').as('paid'));
  if (account !== undefined) asked = asked.where('account', '=', account);
  if (fromMs !== undefined) asked = asked.where('ms', '>=', fromMs);
  if (toMs !== undefined) asked = asked.where('ms', '<', toMs);
  return (await asked.executeTakeFirstOrThrow()).paid ?? 0;
}
