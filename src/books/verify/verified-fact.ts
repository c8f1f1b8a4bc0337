import type { Books } from '../engine/books.ts';
import { keepFact, recallFact } from '../engine/facts.ts';

const NAME = 'verified';

/** What nodes tell of the last `tollgate ledger verify`; names are those of the fact. */
export interface VerifiedFact {
  readonly verified_ms: number;
  /** 0 when the books and Redis agreed. */
  readonly drifts: number;
  /** How many holds ran out that nobody settled. */
  readonly unsettled: number;
}

export function keepVerifiedFact({ db }: Books, fact: VerifiedFact): Promise<void> {
  return keepFact(db, NAME, fact);
}

/** Undefined when there was none yet. */
export function readVerifiedFact({ db }: Pick<Books, 'db'>): Promise<VerifiedFact | undefined> {
  return recallFact(db, NAME);
}
