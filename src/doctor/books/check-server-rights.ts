import { sql } from 'kysely';
import type { Books } from '../../books/engine/books.ts';
import { type Finding, failCheck, passCheck } from '../finding.ts';

const SHOWN_MAX = 5;
const READ_ONLY = '25006';
const DENIED = '42501';

/** Ends the trial so that nothing of it stays behind. */
class TrialDone extends Error {}

export async function checkServerRights(books: Books): Promise<Finding> {
  try {
    await books.db.transaction().execute(async (tx) => {
      await sql`create table tollgate_doctor (trial bigint not null primary key)`.execute(tx);
      await sql`insert into tollgate_doctor values (1)`.execute(tx);
      throw new TrialDone();
    });
  } catch (error) {
    if (!(error instanceof TrialDone)) return failTrial(error as Error);
  }
  return await checkTables(books);
}

function failTrial(error: Error & { readonly code?: string }): Finding {
  const advice: Readonly<Record<string, string>> = {
    [READ_ONLY]:
      'Point books.url at the primary, and set default_transaction_read_only off for the user.',
    [DENIED]: 'Make the user the owner of the database: alter database tollgate owner to tollgate.',
  };
  const chosen = advice[error.code ?? ''] ?? 'See the log of the server.';
  return failCheck(error.message, chosen);
}

/** Tables that somebody else has made may be inaccessible. */
async function checkTables({ db }: Books): Promise<Finding> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace
      and not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
        and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
    order by relname`.execute(db);
  if (rows.length === 0) return passCheck('tables can be made, and all can be written');
  const names = rows.slice(0, SHOWN_MAX).map(({ name }) => name);
  const more = rows.length > SHOWN_MAX ? ` and ${rows.length - SHOWN_MAX} more` : '';
  return failCheck(
    `the user may not write ${names.join(', ')}${more}`,
    'Make the user of books.url the owner of all tables: reassign owned by OTHER to USER.',
  );
}
