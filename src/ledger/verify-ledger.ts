import {
  type AccountBook,
  createAccountBook,
  type Drift,
  type UnknownAccount,
} from './account-book.ts';
import { AUDIT_ACCOUNTS_MAX, auditBucket, listAccounts, readStreamSpan } from './audit-bucket.ts';
import { createLedgerFindings, type LedgerFindings } from './ledger-findings.ts';
import { type LedgerPlace, planPasses, readLedger } from './read-ledger.ts';
import { createUnsettledHolds, type UnsettledHolds } from './unsettled-holds.ts';

/** Names are those of the command's JSON. */
export interface LedgerReport {
  readonly is_clean: boolean;
  readonly entries: number;
  readonly accounts: number;
  readonly key_months: number;
  readonly duplicates: number;
  readonly repeated: number;
  readonly drifts: readonly Drift[];
  readonly unknown_accounts: readonly UnknownAccount[];
  readonly damaged_lines: number;
  /** The first of them. */
  readonly damaged: LedgerFindings['damaged'];
  readonly gaps_found: number;
  /** The first of them. */
  readonly gaps: LedgerFindings['gaps'];
  /** No disagreement: what a node had not settled when it was lost, with its journal. */
  readonly unsettled: UnsettledHolds;
}

/**
 * Recomputes every balance, every month's spending and all held amounts, from the first entry on,
 * and compares them with Redis. It only reads, and may run while requests do: each account is
 * compared with the ledger as it was at the very moment when the account was read.
 */
export async function verifyLedger(
  place: LedgerPlace,
  onEntry: () => void = () => {},
  nowMs = Date.now(),
): Promise<LedgerReport> {
  const findings = createLedgerFindings();
  const drifts: Drift[] = [];
  const unknownAccounts: UnknownAccount[] = [];
  const unsettled = createUnsettledHolds(nowMs);
  const counts = { entries: 0, accounts: 0, key_months: 0 };
  for (const buckets of await planPasses(place)) {
    const book = createAccountBook();
    for (const bucket of buckets) await auditAccounts(place, bucket, book);
    for await (const entry of readLedger({ ...place, buckets, findings })) {
      if (book.enter(entry)) counts.entries++;
      unsettled.note(entry);
      onEntry();
    }
    const result = book.compare();
    drifts.push(...result.drifts);
    unknownAccounts.push(...result.unknownAccounts);
    counts.accounts += result.accounts;
    counts.key_months += result.keyMonths;
  }
  const found = {
    ...counts,
    duplicates: findings.duplicates,
    repeated: findings.repeated,
    drifts,
    unknown_accounts: unknownAccounts,
    damaged_lines: findings.damagedLines,
    damaged: findings.damaged,
    gaps_found: findings.gapsFound,
    gaps: findings.gaps,
    unsettled: unsettled.sum(),
  };
  return { is_clean: countProblems(found) === 0, ...found };
}

/** In how many places the ledger and Redis disagree. */
export function countProblems(report: Omit<LedgerReport, 'is_clean'>): number {
  const { drifts, unknown_accounts: unknown, damaged_lines: damaged, gaps_found: gaps } = report;
  return drifts.length + unknown.length + damaged + gaps;
}

/**
 * Reads accounts page by page. One call returns an account's state and the matching place in the
 * ledger.
 */
async function auditAccounts(
  { connection }: LedgerPlace,
  bucket: number,
  book: AccountBook,
): Promise<void> {
  // Before the list: what an account made afterwards enters lies behind it.
  const { last } = await readStreamSpan(connection, bucket);
  book.openBucket(bucket, last);
  const ids = await listAccounts(connection, bucket);
  for (let first = 0; first < ids.length; first += AUDIT_ACCOUNTS_MAX) {
    const page = ids.slice(first, first + AUDIT_ACCOUNTS_MAX);
    book.add(await auditBucket(connection, bucket, page));
  }
}
