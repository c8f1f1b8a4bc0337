import { type RawBuilder, sql } from 'kysely';
import type { Books } from './books.ts';

/** Accounts between two ids; undefined for the first and the last ones. */
export interface AccountSlice {
  readonly after: string | undefined;
  readonly upTo: string | undefined;
}

/** The last slice has no end, so that all of them have every account that any table knows. */
export async function findSlice(
  { db }: Pick<Books, 'db'>,
  after: string | undefined,
  accountsMax: number,
): Promise<AccountSlice> {
  let asked = db.selectFrom('account_totals').select('account').orderBy('account');
  if (after !== undefined) asked = asked.where('account', '>', after);
  const last = await asked
    .offset(accountsMax - 1)
    .limit(1)
    .executeTakeFirst();
  return { after, upTo: last?.account };
}

/** In SQL. */
export function listSliceConditions({ after, upTo }: AccountSlice): RawBuilder<unknown>[] {
  return [
    ...(after === undefined ? [] : [sql`account > ${after}`]),
    ...(upTo === undefined ? [] : [sql`account <= ${upTo}`]),
  ];
}
