import type { Book } from '../support/book.ts';
import type { HoldRecord, Snapshot } from '../support/snapshot.ts';
import type { ProofAccount } from '../support/world.ts';
import type { Report } from './violations.ts';

const MICROS_HELD = /^held:(\d{6})$/;
const MICROS_SPENT = /^spent:(\d{6})$/;

interface Sums {
  readonly held: Map<string, number>;
  readonly count: Map<string, number>;
}

/** The highest cap that a key ever had: its current cap unless the cap was lowered. */
export type CapMaxOf = (keyId: string) => number | undefined;

interface CheckOptions {
  readonly world: readonly ProofAccount[];
  readonly book: Book;
  readonly capMaxOf: CapMaxOf;
  readonly report: Report;
}

/**
 * I1 to I5: the invariants of a bucket at every instant. The book contains the same ledger as the
 * snapshot.
 */
export function checkSnapshot(snapshot: Snapshot, options: CheckOptions): void {
  const { world, book, report } = options;
  checkLeases(snapshot, report);
  const sums = sumHolds(snapshot.holds);
  for (const account of world) {
    if (account.bucket !== snapshot.bucket) continue;
    const { accountId, kind } = account;
    const fields = snapshot.accounts.get(accountId);
    const balance = Number(fields?.get('balance') ?? 0);
    const held = Number(fields?.get('held') ?? 0);
    const holds = sums.held.get(accountId) ?? 0;
    if (held !== holds) report('I1', `account ${accountId} holds ${held}, its requests ${holds}`);
    const isCovered = kind === 'forced' || held <= balance;
    if (held < 0 || !isCovered) report('I2', `${kind} ${accountId}: ${held} of ${balance} held`);
    const booked = book.balanceOf(accountId);
    if (booked !== balance) report('I4', `${accountId} has ${balance}, its ledger ${booked}`);
    for (const { keyId } of account.keys) {
      const keyFields = snapshot.keys.get(accountId)?.get(keyId) ?? new Map<string, string>();
      checkKey(keyId, keyFields, sums, options);
    }
  }
}

/** A sweep finds every hold in exactly one list, and renewed requests have not ended. */
function checkLeases({ holds, leases, renewals }: Snapshot, report: Report): void {
  const admitted = new Set(leases);
  if (admitted.size < leases.length) report('I1', 'a request has two leases');
  const renewed = [...holds].filter(([, { isRenewed }]) => isRenewed).map(([id]) => id);
  const isSame = renewed.length === renewals.length && renewals.every((id) => holds.has(id));
  if (!isSame)
    report('I1', `${renewals.length} renewals, ${renewed.length} holds that were renewed`);
  const lost = [...holds].find(([id, { isRenewed }]) => !isRenewed && !admitted.has(id));
  if (lost !== undefined) report('I1', `no lease leads to ${lost[0]}`);
}

function sumHolds(holds: ReadonlyMap<string, HoldRecord>): Sums {
  const held = new Map<string, number>();
  const count = new Map<string, number>();
  const add = (map: Map<string, number>, name: string, value: number) =>
    map.set(name, (map.get(name) ?? 0) + value);
  for (const hold of holds.values()) {
    add(held, hold.accountId, hold.held);
    add(held, `${hold.keyId} ${hold.month}`, hold.held);
    add(count, hold.keyId, 1);
  }
  return { held, count };
}

function checkKey(
  keyId: string,
  fields: ReadonlyMap<string, string>,
  sums: Sums,
  { book, capMaxOf, report }: CheckOptions,
): void {
  const monthsOf = (pattern: RegExp) =>
    [...fields.keys()]
      .map((name) => pattern.exec(name)?.[1])
      .filter((month) => month !== undefined);
  const number = (name: string) => Number(fields.get(name) ?? 0);
  const months = new Set([...monthsOf(MICROS_HELD), ...monthsOf(MICROS_SPENT), ...book.months]);
  for (const month of months) {
    const held = number(`held:${month}`);
    const holds = sums.held.get(`${keyId} ${month}`) ?? 0;
    if (held !== holds)
      report('I1', `key ${keyId} holds ${held} in ${month}, its requests ${holds}`);
    const spent = number(`spent:${month}`);
    const booked = book.spentOf(keyId, month);
    if (spent !== booked)
      report('I5', `${keyId} spent ${spent} in ${month}, by its ledger ${booked}`);
    const cap = capMaxOf(keyId);
    if (cap !== undefined && spent + held > cap) {
      report('I3', `${keyId} in ${month}: ${spent} spent and ${held} held of ${cap}`);
    }
  }
  const inFlight = number('in_flight');
  const running = sums.count.get(keyId) ?? 0;
  if (inFlight !== running)
    report('I1', `${keyId} counts ${inFlight} requests, and has ${running}`);
  const inFlightMax = fields.get('in_flight_max');
  if (inFlightMax !== undefined && inFlight > Number(inFlightMax)) {
    report('in flight', `${keyId} has ${inFlight} requests of ${inFlightMax}`);
  }
}
