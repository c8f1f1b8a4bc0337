import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { readSnapshot } from '../engine/read-snapshot.ts';
import type { AccountTotalRow } from '../engine/tables.ts';
import {
  auditBucket,
  type BucketAudit,
  listAccounts,
  readStreamSpan,
} from '../stream/audit-bucket.ts';
import { REREAD_MS } from '../stream/late-entries.ts';
import { compareStreamIds, rewindStreamId, type StreamId } from '../stream/stream-id.ts';
import { cursorOf, decodeCursors } from '../writing/cursors.ts';
import { type CompareOptions, compareAccount } from './compare-account.ts';
import { followStream, type StreamFollower } from './follow-stream.ts';
import type { Drift, UnknownAccount } from './ledger-report.ts';

/** The first attempts may meet a failover, or a stream that is trimmed behind the books. */
const ATTEMPTS_MAX = 3;

interface CheckBucketOptions {
  readonly books: Books;
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  readonly bucket: number;
  readonly firstKeptMonth: string;
}

interface BucketCheck {
  readonly entries: number;
  readonly accounts: number;
  readonly keyMonths: number;
  readonly drifts: readonly Drift[];
  readonly unknownAccounts: readonly UnknownAccount[];
  /** In the stream, behind the books. */
  readonly damaged: number;
  /** Redis has trimmed entries that are not in the books, and not noted as missing either. */
  readonly isGapped: boolean;
}

/**
 * Compares the accounts of a bucket in Redis with the books and what lies in the stream behind
 * them. Requests and ingestion may continue: the books are read as they are at one moment, each
 * account at a later one, and the stream shows what came in between.
 */
export async function checkBucket(options: CheckBucketOptions): Promise<BucketCheck> {
  for (let attempt = 1; ; attempt++) {
    const rewindMs = attempt === 1 ? 0 : REREAD_MS;
    const check = await readSnapshot(options.books, (tx) => checkOnce(options, tx, rewindMs));
    const isAgreed = check.drifts.length + check.unknownAccounts.length === 0 && !check.isGapped;
    if (isAgreed || attempt === ATTEMPTS_MAX) return check;
  }
}

async function checkOnce(
  { connection, bucket, firstKeptMonth }: CheckBucketOptions,
  tx: BooksTransaction,
  rewindMs: number,
): Promise<BucketCheck> {
  const cursor = await readCursor(tx, bucket);
  const from = rewindMs === 0 ? cursor : rewindStreamId(cursor, rewindMs);
  const isReread = rewindMs > 0;
  const days = await readDays(tx);
  const follower = followStream({ tx, connection, bucket, from, days, isReread });
  // Read before the list: what an account made afterwards enters comes after it.
  const { last } = await readStreamSpan(connection, bucket);
  const ids = await listAccounts(connection, bucket);
  await follower.readTo(last);
  const totals = await readBucketTotals(tx, bucket);
  const unknownAccounts = findUnknown(totals, new Set(ids), follower);

  const drifts: Drift[] = [];
  let [accounts, keyMonths] = [0, 0];
  for await (const audit of auditBucket(connection, bucket, ids)) {
    await follower.readTo(audit.span.last);
    const compared = await comparePage(tx, audit, follower, firstKeptMonth);
    drifts.push(...compared.drifts);
    if (audit.keyPart.part > 0) continue;
    accounts += audit.accounts.length;
    keyMonths += compared.keyMonths;
  }
  // Read last: entries that were trimmed since are missing in what was read.
  const { floor } = await readStreamSpan(connection, bucket);
  const entries = totals.reduce((sum, total) => sum + total.entries, countNew(follower));
  const isGapped = compareStreamIds(cursor, floor) < 0;
  const { damaged } = follower;
  return { entries, accounts, keyMonths, drifts, unknownAccounts, damaged, isGapped };
}

async function comparePage(
  tx: BooksTransaction,
  { accounts, holds, keyPart }: BucketAudit,
  follower: StreamFollower,
  firstKeptMonth: string,
) {
  const ids = accounts.map(({ id }) => id);
  const totals = await readTotals(tx, ids);
  const months = await readMonths(tx, ids);
  const drifts: Drift[] = [];
  let keyMonths = 0;
  for (const account of accounts) {
    const inStream = follower.sums.get(account.id);
    const spent = new Map(months.get(account.id));
    for (const [name, micros] of inStream?.spent ?? [])
      spent.set(name, (spent.get(name) ?? 0) + micros);
    const added = (inStream?.paid ?? 0) - (inStream?.charged ?? 0);
    const expected = { balanceMicros: (totals.get(account.id) ?? 0) + added, spent };
    const ownHolds = holds.filter(({ accountId }) => accountId === account.id);
    const options = { account, keyPart, expected, holds: ownHolds, firstKeptMonth };
    const found = compareAccount(options);
    drifts.push(...(found.length === 0 ? found : await compareWithAside(tx, options, found)));
    keyMonths += spent.size;
  }
  return { drifts, keyMonths };
}

/**
 * Nobody knows yet whether entries that are set aside count, as those do whose events the archive
 * does not have. Either may explain what Redis has.
 */
async function compareWithAside(
  tx: BooksTransaction,
  options: CompareOptions,
  found: readonly Drift[],
): Promise<readonly Drift[]> {
  const rows = await tx
    .selectFrom('doubtful')
    .select(['key', 'month', 'charged'])
    .where('account', '=', options.account.id)
    .execute();
  if (rows.length === 0) return found;
  let { balanceMicros } = options.expected;
  const spent = new Map(options.expected.spent);
  for (const { key, month, charged } of rows) {
    balanceMicros -= charged;
    spent.set(`${key} ${month}`, (spent.get(`${key} ${month}`) ?? 0) + charged);
  }
  const withAside = compareAccount({ ...options, expected: { balanceMicros, spent } });
  return withAside.length < found.length ? withAside : found;
}

async function readCursor(tx: BooksTransaction, bucket: number): Promise<StreamId> {
  const { cursors } = await tx.selectFrom('ingestion').select('cursors').executeTakeFirstOrThrow();
  return cursorOf(decodeCursors(cursors), bucket);
}

async function readDays(tx: BooksTransaction): Promise<ReadonlySet<number>> {
  const rows = await tx.selectFrom('days').select('day').where('state', '<>', 'dropped').execute();
  return new Set(rows.map(({ day }) => day));
}

/** What was paid in and not charged, by account. */
async function readTotals(
  tx: BooksTransaction,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .selectFrom('account_totals')
    .select(['account', 'charged', 'paid'])
    .where('account', 'in', ids)
    .execute();
  return new Map(rows.map(({ account, charged, paid }) => [account, paid - charged]));
}

async function readMonths(
  tx: BooksTransaction,
  ids: readonly string[],
): Promise<Map<string, Map<string, number>>> {
  const months = new Map<string, Map<string, number>>(ids.map((id) => [id, new Map()]));
  if (ids.length === 0) return months;
  const rows = await tx
    .selectFrom('key_months')
    .select(['account', 'key', 'month', 'charged'])
    .where('account', 'in', ids)
    .execute();
  for (const { account, key, month, charged } of rows)
    months.get(account)?.set(`${key} ${month}`, charged);
  return months;
}

type AccountTotal = Pick<AccountTotalRow, 'account' | 'entries' | 'charged' | 'paid'>;

function readBucketTotals(tx: BooksTransaction, bucket: number): Promise<AccountTotal[]> {
  return tx
    .selectFrom('account_totals')
    .select(['account', 'entries', 'charged', 'paid'])
    .where('bucket', '=', bucket)
    .execute();
}

function findUnknown(
  totals: readonly AccountTotal[],
  known: ReadonlySet<string>,
  { sums }: StreamFollower,
): UnknownAccount[] {
  const unknown = new Map<string, UnknownAccount>();
  const note = (account: string, entries: number, charged: number) => {
    if (known.has(account)) return;
    const before = unknown.get(account) ?? { entries: 0, charged_micros: 0 };
    unknown.set(account, {
      account,
      entries: before.entries + entries,
      charged_micros: before.charged_micros + charged,
    });
  };
  for (const { account, entries, charged, paid } of totals) note(account, entries, charged - paid);
  for (const [account, { entries, charged, paid }] of sums) note(account, entries, charged - paid);
  const found = [...unknown.values()];
  return found.filter(({ entries, charged_micros: charged }) => entries !== 0 || charged !== 0);
}

function countNew({ sums }: StreamFollower): number {
  let entries = 0;
  for (const ofAccount of sums.values()) entries += ofAccount.entries;
  return entries;
}
