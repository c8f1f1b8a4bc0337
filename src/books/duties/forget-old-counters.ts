import { BUCKETS } from '../../keys/bucket-tags.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { DAY_MS } from '../../lib/units/time-units.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { pause } from '../../timers/pause.ts';
import type { Books } from '../engine/books.ts';
import { keepFact, recallFact } from '../engine/facts.ts';
import {
  type AuditedAccount,
  auditBucket,
  type KeyCounts,
  listAccounts,
} from '../stream/audit-bucket.ts';
import { type ForgetOrder, forgetKey } from './forget-key.ts';
import { firstKeptMonth, nextKeptMonth } from './kept-months.ts';

const FACT = 'forgotten';
/** A round a day is plenty: months end twelve times a year. */
const ROUND_MS = DAY_MS;
/** How long the record of a revoked key stays. */
export const REVOKED_KEPT_MS = 90 * DAY_MS;
/** Between two pages of accounts, so that requests notice nothing. */
const REST_MS = 50;

export interface ForgetOptions {
  /** A writer. */
  readonly books: Books;
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly clock: Clock;
  /** Ends the round early, between two pages. */
  readonly signal: AbortSignal;
  readonly restMs?: number;
}

interface ForgottenCounts {
  readonly months: number;
  readonly keys: number;
}

interface Round {
  readonly ended_ms: number;
  /** Absent if an earlier version kept it. */
  readonly kept_from?: string;
}

const NOTHING: ForgottenCounts = { months: 0, keys: 0 };

/**
 * Removes from Redis what the books keep for good: what keys have spent in months before the last
 * two, and records of keys that were revoked long ago. Goes through all accounts once, unless a
 * round has ended within the last day, whichever node it was.
 */
export async function forgetOldCounters(options: ForgetOptions): Promise<ForgottenCounts> {
  const { books, connection, clock, signal, restMs = REST_MS } = options;
  const last = await recallFact<Round>(books.db, FACT);
  // A clock that was ahead may have dated it into the future.
  if (last !== undefined && Math.abs(clock.nowMs() - last.ended_ms) < ROUND_MS) return NOTHING;
  const before = last && (last.kept_from ?? firstKeptMonth(last.ended_ms));
  const keptFrom = nextKeptMonth(clock.nowMs(), before);
  const sums = { months: 0, keys: 0 };
  for (let bucket = 0; bucket < BUCKETS && !signal.aborted; bucket++) {
    const ids = await listAccounts(connection, bucket);
    for await (const { accounts } of auditBucket(connection, bucket, ids)) {
      for (const order of await listOrders(options, bucket, { accounts, keptFrom })) {
        const { months, isRemoved } = await forgetKey(connection, order);
        sums.months += months;
        if (isRemoved) sums.keys++;
      }
      await pause(restMs, signal);
      if (signal.aborted) break;
    }
  }
  if (!signal.aborted) {
    const round: Round = { ended_ms: clock.nowMs(), kept_from: keptFrom };
    await keepFact(books.db, FACT, round);
  }
  return sums;
}

interface Page {
  readonly accounts: readonly AuditedAccount[];
  readonly keptFrom: string;
}

/** One for each key that has something to forget. */
async function listOrders(
  { books, clock }: ForgetOptions,
  bucket: number,
  { accounts, keptFrom }: Page,
): Promise<ForgetOrder[]> {
  const nowMs = clock.nowMs();
  const spent = await readOldMonths(books, accounts, keptFrom);
  const idle = accounts.flatMap(({ keys }) =>
    [...keys].filter(([, counts]) => !isInUse(counts, keptFrom)).map(([keyId]) => keyId),
  );
  const removable = await findRevoked(books, idle, nowMs - REVOKED_KEPT_MS);
  return accounts.flatMap(({ id: accountId, keys }) =>
    [...keys].flatMap(([keyId, counts]) => {
      const inBooks = spent.get(`${accountId} ${keyId}`) ?? new Map<string, number>();
      const months = new Map([...inBooks].filter(([month]) => counts.has(`spent:${month}`)));
      const mayRemove = removable.has(keyId);
      if (months.size === 0 && !mayRemove) return [];
      return [{ bucket, accountId, keyId, months, mayRemove }];
    }),
  );
}

/** Whether something would be left when the old months have gone. */
function isInUse(counts: KeyCounts, keptFrom: string): boolean {
  for (const [field, value] of counts) {
    const [kind, month = ''] = field.split(':');
    if (kind === 'spent' ? month >= keptFrom : value !== 0) return true;
  }
  return false;
}

async function readOldMonths(
  { db }: Books,
  accounts: readonly AuditedAccount[],
  keptFrom: string,
): Promise<Map<string, Map<string, number>>> {
  const found = new Map<string, Map<string, number>>();
  const ids = accounts
    .filter(({ keys }) => [...keys.values()].some((counts) => hasOldMonth(counts, keptFrom)))
    .map(({ id }) => id);
  if (ids.length === 0) return found;
  const rows = await db
    .selectFrom('key_months')
    .select(['account', 'key', 'month', 'charged'])
    .where('account', 'in', ids)
    .where('month', '<', keptFrom)
    .execute();
  for (const { account, key, month, charged } of rows) {
    const name = `${account} ${key}`;
    const ofKey = found.get(name) ?? new Map<string, number>();
    found.set(name, ofKey.set(month, charged));
  }
  return found;
}

function hasOldMonth(counts: KeyCounts, keptFrom: string): boolean {
  return [...counts.keys()].some((field) => {
    const [kind, month = ''] = field.split(':');
    return kind === 'spent' && month < keptFrom;
  });
}

/** The audit log says when; a key that it does not know stays. */
async function findRevoked(
  { db }: Books,
  keyIds: readonly string[],
  beforeMs: number,
): Promise<ReadonlySet<string>> {
  if (keyIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('audit')
    .select(['key', ({ fn }) => fn.max<number>('ms').as('last')])
    .where('key', 'in', keyIds)
    .where('what', '=', 'key.revoke')
    .groupBy('key')
    .execute();
  const old = rows.filter(({ last }) => last < beforeMs);
  return new Set(old.flatMap(({ key }) => (key === null ? [] : [key])));
}
