import {
  type AuditedAccount,
  type AuditedHold,
  isInPart,
  type KeyPart,
} from '../stream/audit-bucket.ts';
import type { Drift } from './ledger-report.ts';

/** What an account ought to have, by the books and the stream behind them. */
interface ExpectedAccount {
  readonly balanceMicros: number;
  /** By key and month, such as `key_a 202611`. */
  readonly spent: ReadonlyMap<string, number>;
}

export interface CompareOptions {
  readonly account: AuditedAccount;
  /** Which of its keys `account` has. */
  readonly keyPart: KeyPart;
  readonly expected: ExpectedAccount;
  /** The holds of this account. */
  readonly holds: readonly AuditedHold[];
  /** What was spent before this month may be gone from Redis. */
  readonly firstKeptMonth: string;
}

/** Compares the record of an account once, and those of its keys in this part. */
export function compareAccount(options: CompareOptions): Drift[] {
  const ofKeys = compareKeys(options);
  return options.keyPart.part === 0 ? [...compareAmounts(options), ...ofKeys] : ofKeys;
}

function compareAmounts({ account, expected, holds }: CompareOptions): Drift[] {
  const heldMicros = holds.reduce((sum, hold) => sum + hold.heldMicros, 0);
  const subject = { account: account.id, key: null, month: null };
  const both: Drift[] = [
    {
      ...subject,
      what: 'balance_micros',
      expected: expected.balanceMicros,
      found: account.balanceMicros,
    },
    { ...subject, what: 'held_micros', expected: heldMicros, found: account.heldMicros },
  ];
  return both.filter((drift) => drift.expected !== drift.found);
}

/** What is absent counts as 0. */
function compareKeys(options: CompareOptions): Drift[] {
  const { account, keyPart, firstKeptMonth } = options;
  const drifts: Drift[] = [];
  const expectedCounts = expectCounts(options);
  const foundCounts = findCounts(account);
  for (const name of new Set([...expectedCounts.keys(), ...foundCounts.keys()])) {
    const [key = '', field = ''] = name.split(' ');
    if (!isInPart(key, keyPart)) continue;
    const expected = expectedCounts.get(name) ?? 0;
    const found = foundCounts.get(name);
    const [kind, month = null] = field.split(':');
    const isForgotten = found === undefined && kind === 'spent' && (month ?? '') < firstKeptMonth;
    if (expected === (found ?? 0) || isForgotten) continue;
    const what =
      kind === 'in_flight' ? 'in_flight' : (`${kind as 'held' | 'spent'}_micros` as const);
    drifts.push({ account: account.id, key, month, what, expected, found: found ?? 0 });
  }
  return drifts;
}

/** By key and field, such as `k1 held:202601`. */
function expectCounts({ expected, holds }: CompareOptions): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (name: string, amount: number) => counts.set(name, (counts.get(name) ?? 0) + amount);
  for (const [name, micros] of expected.spent) add(name.replace(' ', ' spent:'), micros);
  for (const { keyId, month, heldMicros } of holds) {
    add(`${keyId} held:${month}`, heldMicros);
    add(`${keyId} in_flight`, 1);
  }
  return counts;
}

function findCounts({ keys }: AuditedAccount): Map<string, number> {
  const found = new Map<string, number>();
  for (const [keyId, counts] of keys) {
    for (const [field, value] of counts) found.set(`${keyId} ${field}`, value);
  }
  return found;
}
