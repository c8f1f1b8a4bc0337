import type { Books } from '../engine/books.ts';
import { forgetFact, keepFact, recallFacts } from '../engine/facts.ts';
import type { Acceptance, Drift, LedgerReport, UnknownAccount } from './ledger-report.ts';

/** The prefix of the names of facts; what was found follows it. */
const PREFIX = 'accepted ';

/** What verify found and an operator may accept, as there may be nobody who can repair it. */
export interface LedgerFinding {
  /** What people name it by: the id of an account, `missing` or `damaged`. */
  readonly of: string;
  /** Never the same for two of them, and for one of them the same each time. */
  readonly finding: string;
  /** How much it is too high; null if it has no amount. */
  readonly excess_micros: number | null;
}

/**
 * What accounts hold is not among them, as it can be repaired at any time. Neither is what is wrong
 * within the books, nor what has not reached them: the next verify may find it there.
 */
export async function listFindings(
  books: Books,
  { drifts, unknown_accounts: unknown }: Pick<LedgerReport, 'drifts' | 'unknown_accounts'>,
): Promise<LedgerFinding[]> {
  const ofMoney = drifts.filter(({ what }) => what === 'balance_micros' || what === 'spent_micros');
  return [
    ...ofMoney.map(findingOfDrift),
    ...unknown.map(findingOfUnknown),
    ...(await listGaps(books)),
    ...(await listDamaged(books)),
  ];
}

export function findingOfDrift(drift: Drift): LedgerFinding {
  const { account, key, month, what, expected, found } = drift;
  const subject = [account, key, month].filter((part) => part !== null).join(' ');
  const finding = `drift ${subject} ${what.replace('_micros', '')}`;
  return { of: account, finding, excess_micros: found - expected };
}

export function findingOfUnknown({
  account,
  entries,
  charged_micros,
}: UnknownAccount): LedgerFinding {
  const finding = `unknown ${account} with ${entries} entries`;
  return { of: account, finding, excess_micros: charged_micros };
}

async function listGaps({ db }: Books): Promise<LedgerFinding[]> {
  const rows = await db.selectFrom('gaps').select(['bucket', 'after', 'until']).execute();
  return rows.map(({ bucket, after, until }) => {
    const place = bucket < 0 ? 'audit log' : `bucket ${bucket}`;
    const finding = `missing ${place} after ${after} until ${until}`;
    return { of: 'missing', finding, excess_micros: null };
  });
}

/** Without those of the audit log, which verify leaves out. */
async function listDamaged({ db }: Books): Promise<LedgerFinding[]> {
  const rows = await db
    .selectFrom('damaged')
    .select(['bucket', 'ms', 'seq'])
    .where('bucket', '>=', 0)
    .execute();
  return rows.map(({ bucket, ms, seq }) => {
    const finding = `damaged bucket ${bucket}, ${ms}-${seq}`;
    return { of: 'damaged', finding, excess_micros: null };
  });
}

/** All or none of them. An earlier acceptance of another amount is replaced. */
export async function keepAcceptances(
  { db }: Books,
  acceptances: readonly Acceptance[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const one of acceptances) await keepFact(tx, `${PREFIX}${one.finding}`, one);
  });
}

/**
 * Returns the acceptances that hold: those of exactly what was found. Forgets those of what is no
 * longer found, so that it counts if it comes again; but none that was made while verify ran.
 */
export async function recallAcceptances(
  { db }: Books,
  findings: readonly LedgerFinding[],
  sinceMs: number,
): Promise<Acceptance[]> {
  const found = new Map(findings.map((one) => [one.finding, one.excess_micros]));
  const holding: Acceptance[] = [];
  for (const one of await recallFacts<Acceptance>(db, PREFIX)) {
    const excess = found.get(one.finding);
    if (excess === one.excess_micros) holding.push(one);
    const isGone = excess === undefined && Date.parse(one.accepted_at) < sinceMs;
    if (isGone) await forgetFact(db, `${PREFIX}${one.finding}`, one);
  }
  return holding;
}
