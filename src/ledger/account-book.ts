import type { AuditedAccount, AuditedHold, BucketAudit } from './audit-bucket.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import { compareStreamIds, STREAM_START, type StreamId } from './stream-id.ts';

/** Two figures that ought to be equal. */
export interface Drift {
  readonly account: string;
  /** Null when it is about the account itself. */
  readonly key: string | null;
  /** Null when it is about all months. */
  readonly month: string | null;
  readonly what: 'balance_micros' | 'held_micros' | 'spent_micros' | 'in_flight';
  /** By the ledger, or by the holds. */
  readonly expected: number;
  /** In the record. */
  readonly found: number;
}

/** An account that the ledger charges and Redis does not know. */
export interface UnknownAccount {
  readonly account: string;
  readonly entries: number;
  readonly charged_micros: number;
}

interface Page {
  readonly until: StreamId;
  readonly account: AuditedAccount;
  readonly holds: readonly AuditedHold[];
  readonly sums: Sums;
}

interface Sums {
  balanceMicros: number;
  /** By key and month. */
  readonly spent: Map<string, number>;
}

export interface Comparison {
  readonly drifts: readonly Drift[];
  readonly unknownAccounts: readonly UnknownAccount[];
  readonly accounts: number;
  readonly keyMonths: number;
}

/** What Redis says of some accounts, and what the ledger makes of them. */
export interface AccountBook {
  /** Entries of this bucket up to `last` belong to accounts that are about to be added. */
  openBucket(bucket: number, last: StreamId): void;
  add(audit: BucketAudit): void;
  /** False for an entry that came after the moment that is compared. */
  enter(entry: LedgerEntry): boolean;
  compare(): Comparison;
}

export function createAccountBook(): AccountBook {
  const lasts = new Map<number, StreamId>();
  const pages = new Map<string, Page>();
  const unknown = new Map<string, UnknownAccount>();

  const isLater = ({ account, bucket, id }: LedgerEntry) =>
    compareStreamIds(id, pages.get(account)?.until ?? lasts.get(bucket) ?? STREAM_START) > 0;

  return {
    openBucket: (bucket, last) => {
      lasts.set(bucket, last);
    },
    add({ span, accounts, holds }) {
      for (const account of accounts) {
        const ownHolds = holds.filter(({ accountId }) => accountId === account.id);
        const sums = { balanceMicros: 0, spent: new Map<string, number>() };
        pages.set(account.id, { until: span.last, account, holds: ownHolds, sums });
      }
    },
    enter(entry) {
      if (isLater(entry)) return false;
      const page = pages.get(entry.account);
      if (page === undefined) noteUnknown(unknown, entry);
      else addEntry(page.sums, entry);
      return true;
    },
    compare() {
      const drifts: Drift[] = [];
      let keyMonths = 0;
      for (const [id, page] of pages) {
        drifts.push(...compareAccount(page));
        const expected = expectKeys(page);
        drifts.push(...compareKeys(id, expected, findKeys(page.account)));
        keyMonths += page.sums.spent.size;
      }
      return { drifts, unknownAccounts: [...unknown.values()], accounts: pages.size, keyMonths };
    },
  };
}

function addEntry(sums: Sums, { key, month, charged_micros: charged }: LedgerEntry): void {
  sums.balanceMicros -= charged;
  if (key === null || month === null) return;
  addTo(sums.spent, `${key} spent:${month}`, charged);
}

function noteUnknown(unknown: Map<string, UnknownAccount>, entry: LedgerEntry): void {
  const { account, charged_micros: charged } = entry;
  const before = unknown.get(account) ?? { account, entries: 0, charged_micros: 0 };
  unknown.set(account, {
    account,
    entries: before.entries + 1,
    charged_micros: before.charged_micros + charged,
  });
}

function compareAccount({ account, holds, sums }: Page): Drift[] {
  const heldMicros = holds.reduce((sum, hold) => sum + hold.heldMicros, 0);
  const subject = { account: account.id, key: null, month: null };
  const both: Drift[] = [
    {
      ...subject,
      what: 'balance_micros',
      expected: sums.balanceMicros,
      found: account.balanceMicros,
    },
    { ...subject, what: 'held_micros', expected: heldMicros, found: account.heldMicros },
  ];
  return both.filter(({ expected, found }) => expected !== found);
}

/** By key and field, such as `k1 held:202601`. */
function expectKeys({ holds, sums }: Page): Map<string, number> {
  const expected = new Map(sums.spent);
  for (const { keyId, month, heldMicros } of holds) {
    addTo(expected, `${keyId} held:${month}`, heldMicros);
    addTo(expected, `${keyId} in_flight`, 1);
  }
  return expected;
}

function findKeys({ keys }: AuditedAccount): Map<string, number> {
  const found = new Map<string, number>();
  for (const [keyId, counts] of keys) {
    for (const [field, value] of counts) found.set(`${keyId} ${field}`, value);
  }
  return found;
}

/** What is absent counts as 0. */
function compareKeys(
  account: string,
  expectedCounts: ReadonlyMap<string, number>,
  foundCounts: ReadonlyMap<string, number>,
): Drift[] {
  const drifts: Drift[] = [];
  for (const name of new Set([...expectedCounts.keys(), ...foundCounts.keys()])) {
    const expected = expectedCounts.get(name) ?? 0;
    const found = foundCounts.get(name) ?? 0;
    if (expected === found) continue;
    const [key = '', field = ''] = name.split(' ');
    const [kind, month = null] = field.split(':');
    const what =
      kind === 'in_flight' ? 'in_flight' : (`${kind as 'held' | 'spent'}_micros` as const);
    drifts.push({ account, key, month, what, expected, found });
  }
  return drifts;
}

function addTo(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}
