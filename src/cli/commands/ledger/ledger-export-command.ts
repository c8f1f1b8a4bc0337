import type { Books } from '../../../books/engine/books.ts';
import { countMissing } from '../../../books/questions/count-missing.ts';
import { countDoubtful } from '../../../books/questions/entries/count-doubtful.ts';
import {
  encodeLedgerCsv,
  LEDGER_CSV_HEAD,
} from '../../../books/questions/entries/encode-ledger-csv.ts';
import { findArchivedDates, readLedger } from '../../../books/questions/entries/list-entries.ts';
import type { EntriesQuery } from '../../../books/questions/entries/read-pages.ts';
import { bucketOfAccount } from '../../../keys/account-id.ts';
import { withBooks } from '../../with-books.ts';

/** How many lines are printed at once. */
const LINES_AT_ONCE = 500;
/** How many entries are read between two updates of the progress. */
const ENTRIES_SHOWN = 10_000;

interface LedgerExportOptions {
  readonly configPath: string | undefined;
  /** Undefined exports all accounts. */
  readonly account: string | undefined;
  readonly format: 'ndjson' | 'csv';
  /**
   * Prints whole lines and ends the last one. The export waits for a returned promise, so that it
   * is no faster than its reader.
   */
  readonly out: (text: string) => void | Promise<void>;
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
}

/**
 * Prints every entry that is in the books, the oldest first. Returns 1 if some are missing:
 * archived, damaged, lost or set aside.
 */
export async function runLedgerExportCommand(options: LedgerExportOptions): Promise<number> {
  const { account, format, out, err, progress } = options;
  const encode = format === 'csv' ? encodeLedgerCsv : JSON.stringify;
  return await withBooks({ ...options, access: 'read' }, async ({ books, signal }) => {
    const query = { account, key: undefined, fromMs: undefined, toMs: undefined };
    const doubtful = await countDoubtful(books, query);
    if (account !== undefined && doubtful === 0 && !(await hasAccount(books, account))) {
      throw new Error(`the books have no account ${account}`);
    }
    let lines: string[] = format === 'csv' ? [LEDGER_CSV_HEAD] : [];
    let entries = 0;
    progress('0 entries');
    for await (const entry of readLedger(books, query, signal)) {
      entries += 1;
      if (entries % ENTRIES_SHOWN === 0) progress(`${entries} entries`);
      lines.push(encode(entry));
      if (lines.length < LINES_AT_ONCE) continue;
      await out(lines.join('\n'));
      lines = [];
    }
    if (lines.length > 0) await out(lines.join('\n'));
    const missing = await listMissing(books, query, doubtful);
    for (const sentence of missing) err(`tollgate: ${sentence}`);
    return missing.length === 0 ? 0 : 1;
  });
}

/** Whether the books have an entry, a payment or the name of an account. */
async function hasAccount({ db }: Books, account: string): Promise<boolean> {
  const counted = db.selectFrom('account_totals').select('account').where('account', '=', account);
  const named = db.selectFrom('account_names').select('account').where('account', '=', account);
  return (await counted.unionAll(named).execute()).length > 0;
}

/** A sentence for each reason why entries are missing. */
async function listMissing(
  books: Books,
  query: EntriesQuery,
  doubtful: number,
): Promise<readonly string[]> {
  const missing: string[] = [];
  const archived = await findArchivedDates(books, query);
  if (archived.length > 0) {
    missing.push(
      `the entries of ${archived.length} days until ${archived.at(-1)} are in the archive; tollgate books query reads both`,
    );
  }
  const bucket = query.account === undefined ? undefined : bucketOfAccount(query.account);
  const { gaps, damaged_lines: damaged } = await countMissing(books, { bucket });
  if (gaps + damaged > 0) {
    missing.push(
      `the ledger has ${gaps} gaps and ${damaged} damaged entries; tollgate ledger verify says more`,
    );
  }
  if (doubtful > 0) {
    missing.push(
      `${doubtful} late entries do not count until the node that fills the books has compared them with the archive`,
    );
  }
  return missing;
}
