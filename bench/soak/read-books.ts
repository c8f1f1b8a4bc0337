import type { AccountShown } from '../../test/support/clients/admin.ts';
import type { CallAdmin } from '../support/admin-api.ts';
import type { World } from './world.ts';

const MICROS_PER_CREDIT = 1_000_000;

/** The accounts and keys in Redis, in micro-credits. */
export interface Books {
  /** The month of reading: `yyyymm`. */
  readonly month: string;
  readonly accounts: readonly { id: string; balance: number; held: number }[];
  readonly keys: readonly { id: string; spent: number; held: number; cap: number | undefined }[];
}

interface KeyShown {
  readonly id: string;
  readonly spent_this_month: number;
  readonly held: number;
  readonly monthly_cap: number | null;
}

type Account = Books['accounts'][number];
type Key = Books['keys'][number];

const microsOf = (credits: number) => Math.round(credits * MICROS_PER_CREDIT);

export async function readBooks(admin: CallAdmin, { accounts }: World): Promise<Books> {
  const month = new Date().toISOString().slice(0, 7).replace('-', '');
  const books = { month, accounts: [] as Account[], keys: [] as Key[] };
  for (const { id } of accounts) {
    const { balance, held } = await admin<AccountShown>('GET', `/accounts/${id}`);
    books.accounts.push({ id, balance: microsOf(balance), held: microsOf(held) });
    const { data } = await admin<{ data: readonly KeyShown[] }>('GET', `/accounts/${id}/keys`);
    for (const key of data) {
      books.keys.push({
        id: key.id,
        spent: microsOf(key.spent_this_month),
        held: microsOf(key.held),
        cap: key.monthly_cap === null ? undefined : microsOf(key.monthly_cap),
      });
    }
  }
  return books;
}

/** Checks the invariants that hold at every moment. */
export function findBrokenBounds({ accounts, keys }: Books): string[] {
  return [
    ...accounts
      .filter(({ balance, held }) => balance < 0 || held < 0 || held > balance)
      .map(({ id, balance, held }) => `account ${id}: ${held} held of a balance of ${balance}`),
    ...keys
      .filter(({ spent, held, cap = Number.POSITIVE_INFINITY }) => spent + held > cap)
      .map(({ id, spent, held, cap }) => `key ${id}: ${spent} + ${held} above its cap of ${cap}`),
  ];
}

export function isNothingHeld({ accounts, keys }: Books): boolean {
  return [...accounts, ...keys].every(({ held }) => held === 0);
}
