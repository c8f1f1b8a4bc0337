import { type AccountCorrection, mendAccounts } from '../../accounts/mend-accounts.ts';
import type { Drift } from '../../ledger/account-book.ts';
import type { DamagedLine, LedgerGap } from '../../ledger/ledger-findings.ts';
import type { LedgerPlace } from '../../ledger/read-ledger.ts';
import { countProblems, type LedgerReport, verifyLedger } from '../../ledger/verify-ledger.ts';
import { writeVerifyResult } from '../../ledger/verify-result.ts';
import { formatCredits } from '../../lib/units/micros.ts';
import { createLog } from '../../log/create-log.ts';
import { withLedger } from '../open-ledger.ts';

interface LedgerVerifyOptions {
  readonly configPath: string | undefined;
  /** The data folders of all nodes that have exported. If empty, the folder in the settings. */
  readonly dataDirs: readonly string[];
  readonly json: boolean;
  /** Whether to correct what accounts and keys hold, so that it matches the open holds. */
  readonly isRepair: boolean;
  /** Both print whole lines and end the last one. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
}

/**
 * Recomputes every balance and month from the ledger. Returns 0 if all agree, and 1 if they do not
 * or if the ledger cannot be read.
 */
export async function runLedgerVerifyCommand(options: LedgerVerifyOptions): Promise<number> {
  const { json, isRepair, out } = options;
  return await withLedger(options, async (place, onEntry) => {
    const found = await verifyLedger(place, onEntry);
    const report = isRepair ? await repair(place, found) : found;
    options.progress('');
    await tellNodes(place.dirs, report);
    out(json ? JSON.stringify(report, undefined, 2) : printReport(report));
    return report.is_clean ? 0 : 1;
  });
}

interface RepairedReport extends LedgerReport {
  readonly repaired?: readonly AccountCorrection[];
}

/**
 * Only figures that follow from the open holds can be repaired. For charged and spent amounts, the
 * ledger is the truth.
 */
async function repair(place: LedgerPlace, report: LedgerReport): Promise<RepairedReport> {
  const isMendable = ({ what }: Drift) => what === 'held_micros' || what === 'in_flight';
  const accounts = new Set(report.drifts.filter(isMendable).map(({ account }) => account));
  const log = createLog('error', 'ledger');
  const repaired = await mendAccounts(place.connection, accounts, log);
  const drifts = report.drifts.filter((drift) => !isMendable(drift));
  return { ...report, drifts, repaired, is_clean: countProblems({ ...report, drifts }) === 0 };
}

/**
 * The nodes show the result in their metrics. A folder that is missing or not writable belongs to
 * no node that could show it.
 */
async function tellNodes(dirs: readonly string[], report: LedgerReport): Promise<void> {
  const result = {
    verifiedMs: Date.now(),
    drifts: countProblems(report),
    unsettledHolds: report.unsettled.holds,
  };
  await Promise.allSettled(dirs.map((dir) => writeVerifyResult(dir, result)));
}

function printReport(report: RepairedReport): string {
  const lines = [
    `entries: ${report.entries}, accounts: ${report.accounts}, months of keys: ${report.key_months}`,
    ...report.drifts.map(printDrift),
    ...(report.repaired ?? []).map(printRepaired),
    ...report.unknown_accounts.map(
      ({ account, entries, charged_micros: micros }) =>
        `unknown  ${account}: ${entries} entries, ${formatCredits(micros)} charged`,
    ),
    ...report.damaged.map(printDamage),
    ...printRest('damaged', report.damaged_lines - report.damaged.length),
    ...report.gaps.map(printGap),
    ...printRest('missing', report.gaps_found - report.gaps.length),
    ...printUnsettled(report.unsettled),
    report.is_clean ? 'The ledger and Redis agree.' : 'The ledger and Redis do NOT agree.',
  ];
  return lines.join('\n');
}

function printDrift({ account, key, month, what, expected, found }: Drift): string {
  const subject = [account, key, month].filter((part) => part !== null).join(' ');
  const isMoney = what !== 'in_flight';
  const [counted, recorded] = [expected, found].map((n) => (isMoney ? formatCredits(n) : `${n}`));
  return `drift    ${subject}: ${what.replace('_micros', '')} should be ${counted} and is ${recorded}`;
}

function printRepaired({ account, key, field, before, after }: AccountCorrection): string {
  const subject = key === null ? account : `${account} ${key}`;
  return `repaired ${subject}: ${field} was ${before} and is ${after}`;
}

function printDamage({ file, line, reason }: DamagedLine): string {
  return `damaged  ${file}:${line}: ${reason}`;
}

function printGap(gap: LedgerGap): string {
  return 'dir' in gap
    ? `missing  ${gap.dir}: segments ${gap.sequence_from} to ${gap.sequence_to}`
    : `missing  bucket ${gap.bucket}: what was entered after ${gap.after} up to ${gap.until}`;
}

function printUnsettled(unsettled: LedgerReport['unsettled']): string[] {
  const { holds, held_micros: held, charged_micros: charged, last_at: lastAt } = unsettled;
  if (holds === 0) return [];
  const amounts = `${formatCredits(held)} held, ${formatCredits(charged)} charged`;
  return [`expired  ${holds} holds that nobody settled: ${amounts}, the last at ${lastAt}`];
}

function printRest(kind: string, count: number): string[] {
  return count > 0 ? [`${kind}  ${count} more`] : [];
}
