import type { Clock } from '../../lib/time/clock.ts';
import type { Books } from '../engine/books.ts';
import { keepFact, recallFact } from '../engine/facts.ts';
import { countProblems, type LedgerReport } from './ledger-report.ts';

const NAME = 'verified';

/** What nodes report about the last `tollgate ledger verify`; names are those of the fact. */
export interface VerifiedFact {
  readonly verified_ms: number;
  /** 0 when the books and Redis agreed, but for what is accepted. */
  readonly drifts: number;
  /** How many holds ran out that nobody settled. */
  readonly unsettled: number;
}

/** Returns in how many places the books and Redis disagree, without what is accepted. */
export async function keepVerifiedFact(
  { db }: Pick<Books, 'db'>,
  clock: Clock,
  report: Omit<LedgerReport, 'is_clean'>,
): Promise<number> {
  const drifts = countProblems(report);
  const unsettled = report.unsettled.holds;
  await keepFact(db, NAME, {
    verified_ms: clock.nowMs(),
    drifts,
    unsettled,
  } satisfies VerifiedFact);
  return drifts;
}

/** Undefined when there was none yet. */
export function readVerifiedFact({ db }: Pick<Books, 'db'>): Promise<VerifiedFact | undefined> {
  return recallFact(db, NAME);
}
