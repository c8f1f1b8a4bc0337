import type { BooksTransaction } from '../../engine/books.ts';
import type { AccountNameRow, KeyNameRow } from '../../engine/tables.ts';
import { splitWords } from './split-words.ts';

const ROWS_AT_ONCE = 200;

/**
 * Writes the names that are new or have changed. An account is found by the words of its name and
 * its id.
 */
export async function writeNames(
  tx: BooksTransaction,
  accounts: readonly AccountNameRow[],
  keys: readonly KeyNameRow[],
): Promise<void> {
  for (let first = 0; first < accounts.length; first += ROWS_AT_ONCE) {
    await writeAccounts(tx, accounts.slice(first, first + ROWS_AT_ONCE));
  }
  for (let first = 0; first < keys.length; first += ROWS_AT_ONCE) {
    await writeKeys(tx, keys.slice(first, first + ROWS_AT_ONCE));
  }
}

async function writeAccounts(tx: BooksTransaction, rows: readonly AccountNameRow[]) {
  const ids = rows.map(({ account }) => account);
  const known = await tx
    .selectFrom('account_names')
    .selectAll()
    .where('account', 'in', ids)
    .execute();
  const changed = listChanged(rows, known, ({ account }) => account);
  if (changed.length === 0) return;
  await tx
    .insertInto('account_names')
    .values(changed)
    .onConflict((conflict) =>
      conflict.column('account').doUpdateSet((row) => ({
        name: row.ref('excluded.name'),
        plan: row.ref('excluded.plan'),
        status: row.ref('excluded.status'),
        created_ms: row.ref('excluded.created_ms'),
      })),
    )
    .execute();
  const changedIds = changed.map(({ account }) => account);
  await tx.deleteFrom('words').where('account', 'in', changedIds).execute();
  const words = changed.flatMap(({ account, name }) =>
    [...new Set([...splitWords(name), account.toLowerCase()])].map((word) => ({ word, account })),
  );
  await tx
    .insertInto('words')
    .values(words)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function writeKeys(tx: BooksTransaction, rows: readonly KeyNameRow[]) {
  const ids = rows.map(({ key }) => key);
  const known = await tx.selectFrom('key_names').selectAll().where('key', 'in', ids).execute();
  const changed = listChanged(rows, known, ({ key }) => key);
  if (changed.length === 0) return;
  await tx
    .insertInto('key_names')
    .values(changed)
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((row) => ({
        account: row.ref('excluded.account'),
        name: row.ref('excluded.name'),
        last4: row.ref('excluded.last4'),
        status: row.ref('excluded.status'),
      })),
    )
    .execute();
}

function listChanged<Row extends object>(
  rows: readonly Row[],
  known: readonly Row[],
  idOf: (row: Row) => string,
): Row[] {
  const before = new Map(known.map((row) => [idOf(row), row]));
  const isSame = (row: Row, old: Row | undefined) =>
    old !== undefined &&
    Object.entries(row).every(([name, value]) => Reflect.get(old, name) === value);
  return rows.filter((row) => !isSame(row, before.get(idOf(row))));
}
