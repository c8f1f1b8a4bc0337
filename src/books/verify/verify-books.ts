import { BUCKETS } from '../../keys/bucket-tags.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { firstKeptMonth } from '../duties/kept-months.ts';
import type { Books } from '../engine/books.ts';
import { listFindings, recallAcceptances } from './accepted-findings.ts';
import { checkBucket } from './check-bucket.ts';
import { checkDays, type VerifyArchivedDay } from './check-days.ts';
import { checkMonths } from './check-months.ts';
import { checkTotals } from './check-totals.ts';
import type { LedgerReport, UnsettledHolds } from './ledger-report.ts';
import type { UnsettledOfDay } from './sum-unsettled.ts';
import { keepVerifiedFact } from './verified-fact.ts';

export interface VerifyProgress {
  readonly what: 'buckets' | 'hours';
  readonly done: number;
  readonly total: number;
}

interface VerifyBooksOptions {
  readonly books: Books;
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  readonly clock: Clock;
  /** Whether to read days again that were verified before, and archives. */
  readonly isFull: boolean;
  /** Without it nothing reads archives. */
  readonly verifyArchivedDay?: VerifyArchivedDay | undefined;
  /** Ends the work between two buckets or hours. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: VerifyProgress) => void;
}

/**
 * Compares every balance, every month's spending and all held amounts in Redis with the books, and
 * the sums in the books with their entries. It may run while requests and ingestion do. It changes
 * no figures; it keeps which days were verified, which acceptances still hold, and the result for
 * the metrics of the nodes.
 */
export async function verifyBooks(options: VerifyBooksOptions): Promise<LedgerReport> {
  const { books, clock, signal, onProgress } = options;
  const sinceMs = clock.nowMs();
  const ofRedis = await checkBuckets(options);
  const totals = await checkTotals(options);
  const ofDays = await checkDays({
    ...options,
    onHour: (done, total) => {
      signal.throwIfAborted();
      onProgress({ what: 'hours', done, total });
    },
  });
  const ofMonths = await checkMonths(options);
  const found = {
    entries: ofRedis.entries + (await countRows(books, 'payments')),
    accounts: ofRedis.accounts,
    key_months: ofRedis.keyMonths,
    drifts: ofRedis.drifts,
    unknown_accounts: ofRedis.unknownAccounts,
    sum_drifts: [...totals, ...ofDays.drifts, ...ofMonths],
    archive_problems: ofDays.archiveProblems,
    days_read: ofDays.daysRead,
    days: ofDays.days,
    gaps: ofRedis.gaps + (await countRows(books, 'gaps')),
    repeats: await countRows(books, 'repeats'),
    doubtful: await countRows(books, 'doubtful'),
    damaged: ofRedis.damaged + (await countDamaged(books)),
    unsettled: describeUnsettled(ofDays.unsettled),
  };
  const findings = await listFindings(books, found);
  const report = { ...found, accepted: await recallAcceptances(books, findings, sinceMs) };
  return { is_clean: (await keepVerifiedFact(books, clock, report)) === 0, ...report };
}

async function checkBuckets(options: VerifyBooksOptions) {
  const { books, connection, clock, signal, onProgress } = options;
  const drifts: LedgerReport['drifts'][number][] = [];
  const unknownAccounts: LedgerReport['unknown_accounts'][number][] = [];
  const counts = { entries: 0, accounts: 0, keyMonths: 0, damaged: 0, gaps: 0 };
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    signal.throwIfAborted();
    onProgress({ what: 'buckets', done: bucket, total: BUCKETS });
    const month = firstKeptMonth(clock.nowMs());
    const check = await checkBucket({ books, connection, bucket, firstKeptMonth: month });
    drifts.push(...check.drifts);
    unknownAccounts.push(...check.unknownAccounts);
    counts.entries += check.entries;
    counts.accounts += check.accounts;
    counts.keyMonths += check.keyMonths;
    counts.damaged += check.damaged;
    if (check.isGapped) counts.gaps++;
  }
  return { ...counts, drifts, unknownAccounts };
}

async function countRows(
  { db }: Books,
  table: 'payments' | 'gaps' | 'repeats' | 'doubtful',
): Promise<number> {
  const { rows } = await db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .executeTakeFirstOrThrow();
  return rows;
}

/** Without those of the audit log, which stand under another number than that of a bucket. */
async function countDamaged({ db }: Books): Promise<number> {
  const { rows } = await db
    .selectFrom('damaged')
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .where('bucket', '>=', 0)
    .executeTakeFirstOrThrow();
  return rows;
}

function describeUnsettled(sums: UnsettledOfDay): UnsettledHolds {
  return {
    holds: sums.holds,
    held_micros: sums.held,
    charged_micros: sums.charged,
    last_at: sums.last_ms === null ? null : new Date(sums.last_ms).toISOString(),
  };
}
