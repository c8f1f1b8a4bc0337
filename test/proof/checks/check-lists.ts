import { startOf } from '../../quota/lists/list-model.ts';
import { isSoftAccount } from '../clients/run-list-client.ts';
import type { HoldRecord, LimitRow, LimitSubject, Snapshot } from '../support/snapshot.ts';
import type { ProofAccount } from '../support/world.ts';
import type { Report } from './violations.ts';

interface CheckOptions {
  readonly world: readonly ProofAccount[];
  readonly limitMaxOf: (subjectId: string) => number | undefined;
  readonly report: Report;
}

const CALENDAR = { 1: 'd', 2: 'w', 3: 'm' } as const;

/** When the period begins that a moment is in; nothing for a window that rolls. */
export function periodOf({ window }: Pick<LimitRow, 'window'>, ms: number): number | undefined {
  const letter = CALENDAR[window as keyof typeof CALENDAR];
  return letter === undefined ? undefined : startOf(ms, letter);
}

/** Blocking limits of requests in a window that rolls keep times instead of slices. */
export function keepsTimes({ unit, blocks, window }: LimitRow): boolean {
  return unit === 'r' && blocks && window > 3;
}

/** Tokens of requests whose output may become longer may pass a limit. */
function isHard({ unit, blocks }: LimitRow, account: ProofAccount | undefined): boolean {
  return blocks && !('tio'.includes(unit) && account !== undefined && isSoftAccount(account));
}

/**
 * L1 to L3: no limit of a list that blocks ever counts more than its amount, a window that rolls is
 * the sum of its slices, and what is held is the sum of what running requests hold.
 */
export function checkLists(snapshot: Snapshot, { world, limitMaxOf, report }: CheckOptions): void {
  const accounts = new Map(world.map((account) => [account.accountId, account]));
  const holds = [...snapshot.holds.values()];
  for (const subject of snapshot.subjects) {
    const own = holds.filter((hold) => countsFor(hold, subject));
    for (const row of subject.rows) {
      const tell = (check: string, text: string) =>
        report(check, `${subject.level} ${subject.id}: ${text}: ${JSON.stringify(row)}`);
      const most = Math.max(row.amount, limitMaxOf(subject.id) ?? 0);
      if (isHard(row, accounts.get(subject.accountId)) && row.counted > most) {
        tell('L1', `${row.counted} of ${most}`);
      }
      const isSum = row.window <= 3 || keepsTimes(row) || row.counted === row.current + row.sliced;
      if (!isSum || row.counted < 0) tell('L2', 'not the sum of its slices');
      const held = keepsTimes(row) ? 0 : sumHeld(own, row);
      if (row.held !== held) tell('L3', `its requests hold ${held}`);
    }
  }
}

function countsFor({ accountId, keyId, extras }: HoldRecord, { level, id }: LimitSubject): boolean {
  if (extras === undefined) return false;
  const ids = { key: keyId, user: extras.userId, group: extras.groupId, account: accountId };
  return ids[level] === id;
}

function sumHeld(holds: readonly HoldRecord[], row: LimitRow): number {
  let sum = 0;
  for (const { held, extras } of holds) {
    if (extras === undefined || extras.at < row.since) continue;
    const period = periodOf(row, extras.at);
    if (period !== undefined && period !== row.head) continue;
    const { input, output } = extras;
    sum += { r: 1, i: input, o: output, t: input + output, c: held }[row.unit] ?? 0;
  }
  return sum;
}
