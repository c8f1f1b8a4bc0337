import type { Report } from '../checks/violations.ts';
import type { LedgerRecord } from './snapshot.ts';

/** What ends a request for the first time; `late` may follow after a request has expired. */
const FIRST_KINDS = new Set(['charge', 'release', 'expired', 'orphan']);
const PAYMENT_KINDS = new Set(['topup', 'adjustment']);

/** The ledger, added up by the test. */
export interface Book {
  add(entry: LedgerRecord): void;
  balanceOf(account: string): number;
  spentOf(key: string, month: string): number;
  readonly requests: ReadonlyMap<string, readonly LedgerRecord[]>;
  readonly payments: ReadonlyMap<string, LedgerRecord>;
  /** Every key and month that was ever charged. */
  readonly months: ReadonlySet<string>;
}

export function createBook(report: Report): Book {
  const balances = new Map<string, number>();
  const spent = new Map<string, number>();
  const requests = new Map<string, LedgerRecord[]>();
  const payments = new Map<string, LedgerRecord>();
  const months = new Set<string>();

  const addPayment = (entry: LedgerRecord) => {
    const id = `${entry.account} ${entry.request}`;
    if (payments.has(id)) report('I6', `payment ${id} is entered twice`);
    payments.set(id, entry);
  };

  const addCharge = (entry: LedgerRecord) => {
    const keyMonth = `${entry.key} ${entry.month}`;
    spent.set(keyMonth, (spent.get(keyMonth) ?? 0) + entry.charged);
    months.add(entry.month);
    const before = requests.get(entry.request) ?? [];
    const isNext = FIRST_KINDS.has(entry.kind)
      ? before.length === 0
      : entry.kind === 'late' && before.length === 1 && before[0]?.kind === 'expired';
    if (!isNext) report('I6', `${JSON.stringify(entry)} after ${JSON.stringify(before)}`);
    if (entry.kind === 'expired' && (entry.charged > entry.held || entry.short !== 0)) {
      report('I6', `${JSON.stringify(entry)} is more than was held`);
    }
    requests.set(entry.request, [...before, entry]);
  };

  return {
    requests,
    payments,
    months,
    balanceOf: (account) => balances.get(account) ?? 0,
    spentOf: (key, month) => spent.get(`${key} ${month}`) ?? 0,
    add(entry) {
      const balance = (balances.get(entry.account) ?? 0) - entry.charged;
      balances.set(entry.account, balance);
      if (balance !== entry.balance) {
        report('I4', `the sum is ${balance} at ${JSON.stringify(entry)}`);
      }
      if (PAYMENT_KINDS.has(entry.kind)) addPayment(entry);
      else addCharge(entry);
    },
  };
}
