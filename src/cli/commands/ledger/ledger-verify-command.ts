import { join } from 'node:path';
import { type AccountRepair, repairAccounts } from '../../../accounts/repair-accounts.ts';
import type { Books } from '../../../books/engine/books.ts';
import { nameDay } from '../../../books/engine/days.ts';
import {
  findingOfDrift,
  findingOfUnknown,
  type LedgerFinding,
} from '../../../books/verify/accepted-findings.ts';
import type { VerifyArchivedDay } from '../../../books/verify/check-days.ts';
import {
  countProblems,
  type Drift,
  type LedgerReport,
  type SumDrift,
  type UnknownAccount,
} from '../../../books/verify/ledger-report.ts';
import { keepVerifiedFact } from '../../../books/verify/verified-fact.ts';
import { type VerifyProgress, verifyBooks } from '../../../books/verify/verify-books.ts';
import type { Config } from '../../../config/config.ts';
import { formatCredits } from '../../../lib/units/micros.ts';
import { createLog } from '../../../log/create-log.ts';
import type { RedisConnection } from '../../../redis/connect-redis.ts';
import { systemClock } from '../../../timers/system-clock.ts';
import { drawProgress } from '../../draw-progress.ts';
import { withBooks } from '../../with-books.ts';
import { type AcceptOrder, acceptFindings, printAcceptance } from './accept-findings.ts';

/** In the data folder; room for one file of the archive. */
const TEMP_FOLDER = 'verifying';

/**
 * `held` makes what accounts and keys hold match the open holds. `all` also sets their balances
 * and what they spent to what the books have.
 */
export type Repair = 'held' | 'all';

interface LedgerVerifyOptions {
  readonly configPath: string | undefined;
  readonly json: boolean;
  /** Whether to read again what was verified before. */
  readonly isFull: boolean;
  /** What to repair, if anything. */
  readonly repair: Repair | undefined;
  /** What to accept, if anything. */
  readonly accept: AcceptOrder | undefined;
  /** Both print whole lines and end the last one. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
}

/**
 * Compares every balance and month with the books, and the sums of the books with their entries.
 * Returns 0 if all agree, and 1 if they do not or if they cannot be read.
 */
export async function runLedgerVerifyCommand(options: LedgerVerifyOptions): Promise<number> {
  const { json, isFull, out, err, progress } = options;
  return await withBooks({ ...options, access: 'write', isOfFleet: true }, async (opened) => {
    const { config, books, connect, signal } = opened;
    const connection = await connect();
    const found = await verifyBooks({
      ...{ books, connection, isFull, signal },
      clock: systemClock,
      verifyArchivedDay: createVerifyArchivedDay(config),
      onProgress: ({ what, done, total }) => progress(drawProgress(TITLES[what], done, total)),
    });
    const report = await change({ books, connection }, found, options);
    progress('');
    if (options.repair === 'all' && !areBooksWhole(found)) {
      err('tollgate: something is wrong with the books, so no balance was taken from them');
    }
    out(json ? JSON.stringify(report, undefined, 2) : printReport(report));
    return report.is_clean ? 0 : 1;
  });
}

function change(
  opened: { readonly books: Books; readonly connection: RedisConnection },
  found: LedgerReport,
  { repair: what, accept }: Pick<LedgerVerifyOptions, 'repair' | 'accept'>,
): RepairedReport | Promise<RepairedReport> {
  if (what !== undefined) return repair(opened, found, what);
  return accept === undefined ? found : acceptFindings({ ...opened, ...accept, report: found });
}

interface RepairedReport extends LedgerReport {
  readonly repaired?: readonly AccountRepair[];
}

/** Balances and spent amounts are taken from the books only if nothing is wrong with the books. */
async function repair(
  { books, connection }: { readonly books: Books; readonly connection: RedisConnection },
  found: LedgerReport,
  what: Repair,
): Promise<RepairedReport> {
  const { drifts } = found;
  const wanted = {
    accountIds: new Set(drifts.filter(isOfHolds).map(({ account }) => account)),
    figures: what === 'all' && areBooksWhole(found) ? drifts.flatMap(listFigures) : [],
  };
  const repaired = await repairAccounts(connection, wanted, createLog('error', 'ledger'));
  const isRepaired = (drift: Drift) =>
    listFigures(drift).some(({ account, key, field }) =>
      repaired.some((one) => one.account === account && one.key === key && one.field === field),
    );
  const left = drifts.filter((drift) => !isOfHolds(drift) && !isRepaired(drift));
  const mended = new Set(drifts.filter(isRepaired).map((drift) => findingOfDrift(drift).finding));
  const accepted = found.accepted.filter(({ finding }) => !mended.has(finding));
  const report = { ...found, drifts: left, accepted, repaired };
  return { ...report, is_clean: (await keepVerifiedFact(books, systemClock, report)) === 0 };
}

/**
 * What was accepted is wrong nevertheless. Months are summed up again, and no balance uses them.
 */
function areBooksWhole(report: LedgerReport): boolean {
  const others = { drifts: [], unknown_accounts: [], accepted: [] };
  const sums = report.sum_drifts.filter(({ table }) => table !== 'usage_months');
  return countProblems({ ...report, ...others, sum_drifts: sums }) === 0 && report.doubtful === 0;
}

function isOfHolds({ what }: Drift): boolean {
  return what === 'held_micros' || what === 'in_flight';
}

/** The figure in Redis that must become what the books say. */
function listFigures({ account, key, month, what, expected, found }: Drift): AccountRepair[] {
  if (what !== 'balance_micros' && what !== 'spent_micros') return [];
  const field = what === 'balance_micros' ? 'balance' : `spent:${month}`;
  return [{ account, key, field, before: `${found}`, after: `${expected}` }];
}

const MISSING = 'stretches that Redis trimmed before they were read';

const TITLES: Readonly<Record<VerifyProgress['what'], string>> = {
  buckets: 'accounts',
  hours: 'entries',
};

function createVerifyArchivedDay({ books, dataDir }: Config): VerifyArchivedDay {
  const { archive } = books;
  const tempFolder = join(dataDir, TEMP_FOLDER);
  return async (day, noted) => {
    if (archive === undefined) {
      return [`${nameDay(day)} is in an archive, and books.archive is not set`];
    }
    const { openArchive } = await import('../../../books/archive/open-archive.ts');
    const { verifyArchivedDay } = await import('../../../books/archive/verify-archived-day.ts');
    return await verifyArchivedDay(openArchive(archive), day, { tempFolder, noted });
  };
}

function printReport(report: RepairedReport): string {
  const accepted = new Set(report.accepted.map(({ finding }) => finding));
  const isOpen = ({ finding }: LedgerFinding) => !accepted.has(finding);
  const countOpen = (kind: 'missing' | 'damaged', count: number) =>
    count - [...accepted].filter((finding) => finding.startsWith(kind)).length;
  const lines = [
    `entries: ${report.entries}, accounts: ${report.accounts}, months of keys: ${report.key_months}, days: ${report.days}, read again: ${report.days_read}`,
    ...report.drifts.filter((drift) => isOpen(findingOfDrift(drift))).map(printDrift),
    ...(report.repaired ?? []).map(printRepaired),
    ...report.unknown_accounts.filter((one) => isOpen(findingOfUnknown(one))).map(printUnknown),
    ...report.sum_drifts.map(printSumDrift),
    ...report.archive_problems.map((problem) => `archive  ${problem}`),
    ...printCount('missing', countOpen('missing', report.gaps), MISSING),
    ...printCount(
      'damaged',
      countOpen('damaged', report.damaged),
      'entries that cannot be decoded',
    ),
    ...report.accepted.map(printAcceptance),
    ...printCount('repeated', report.repeats, 'events that came under two ids'),
    ...printCount('doubtful', report.doubtful, 'late entries to be compared with the archive'),
    ...printUnsettled(report.unsettled),
    printVerdict(report),
  ];
  return lines.join('\n');
}

function printDrift({ account, key, month, what, expected, found }: Drift): string {
  const subject = [account, key, month].filter((part) => part !== null).join(' ');
  const isMoney = what !== 'in_flight';
  const [counted, recorded] = [expected, found].map((n) => (isMoney ? formatCredits(n) : `${n}`));
  return `drift    ${subject}: ${what.replace('_micros', '')} should be ${counted} and is ${recorded}`;
}

function printUnknown({ account, entries, charged_micros: micros }: UnknownAccount): string {
  return `unknown  ${account}: ${entries} entries, ${formatCredits(micros)} charged`;
}

function printSumDrift({ day, table, row, column, excess }: SumDrift): string {
  const place = [day, table, row].filter((part) => part !== null && part !== '').join(' ');
  return `sum      ${place}: ${column} is ${excess} too high`;
}

function printRepaired({ account, key, field, before, after }: AccountRepair): string {
  const subject = key === null ? account : `${account} ${key}`;
  return `repaired ${subject}: ${field} was ${before} and is ${after}`;
}

function printVerdict({ is_clean: isClean, accepted }: LedgerReport): string {
  if (!isClean) return 'The ledger and Redis do NOT agree.';
  const but = accepted.length === 0 ? '' : ', but for what is accepted';
  return `The ledger and Redis agree${but}.`;
}

function printCount(kind: string, count: number, what: string): string[] {
  return count > 0 ? [`${kind}  ${count} ${what}`] : [];
}

function printUnsettled(unsettled: LedgerReport['unsettled']): string[] {
  const { holds, held_micros: held, charged_micros: charged, last_at: lastAt } = unsettled;
  if (holds === 0) return [];
  const amounts = `${formatCredits(held)} held, ${formatCredits(charged)} charged`;
  return [`expired  ${holds} holds that nobody settled: ${amounts}, the last at ${lastAt}`];
}
