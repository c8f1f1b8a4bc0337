import { sql } from 'kysely';
import type { Books } from '../engine/books.ts';
import { listDayStates } from '../engine/day-states.ts';
import { readVerifiedFact } from '../verify/verified-fact.ts';
import { readSize } from './read-status.ts';

/** What the metrics of a node say about the books; cheap to read. */
export interface BooksFacts {
  readonly gaps: number;
  readonly repeats: number;
  readonly damaged: number;
  readonly archivedDays: number;
  /** Days with entries that no archive has. */
  readonly daysKept: readonly number[];
  /** Late entries that do not count yet, since the archive may have them. */
  readonly doubtful: number;
  /** On the disk. */
  readonly bytes: number;
  /** By the last `ledger verify`; undefined before the first one. */
  readonly verified: VerifyFacts | undefined;
}

interface VerifyFacts {
  readonly verifiedMs: number;
  /** 0 when the books and Redis agreed, but for what is accepted. */
  readonly drifts: number;
  readonly unsettledHolds: number;
}

export async function readFacts(books: Books): Promise<BooksFacts> {
  const { db } = books;
  const countRows = async (table: 'gaps' | 'repeats' | 'damaged' | 'doubtful') => {
    const row = await db
      .selectFrom(table)
      .select(sql<number>`count(*)`.as('rows'))
      .executeTakeFirstOrThrow();
    return row.rows;
  };
  const days = await listDayStates(books);
  return {
    gaps: await countRows('gaps'),
    repeats: await countRows('repeats'),
    damaged: await countRows('damaged'),
    archivedDays: days.filter(({ hasArchive }) => hasArchive).length,
    daysKept: days.filter(({ state }) => state === 'open').map(({ day }) => day),
    doubtful: await countRows('doubtful'),
    bytes: await readSize(books),
    verified: await readVerified(books),
  };
}

async function readVerified(books: Books): Promise<VerifyFacts | undefined> {
  const fact = await readVerifiedFact(books);
  if (fact === undefined) return undefined;
  const { verified_ms: verifiedMs, drifts, unsettled } = fact;
  return { verifiedMs, drifts, unsettledHolds: unsettled };
}
