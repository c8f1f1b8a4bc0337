import { randomBytes } from 'node:crypto';
import { mintAccountId } from '../../src/keys/account-id.ts';
import { mintKeyId } from '../../src/keys/api-key.ts';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import type { AdmitReply } from '../../src/quota/scripts/admit.ts';
import { credit } from '../../src/quota/scripts/credit.ts';
import { writeRecord } from '../../src/quota/scripts/write-record.ts';
import { encodeLedgerUsage, type Settlement } from '../../src/quota/settlement/settlement.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import { splitLedgerEntry } from '../support/ledger/split-ledger-entry.ts';
import { admitAlone } from '../support/limits/admit-alone.ts';
import { DEFAULT_WARNINGS } from '../support/limits/default-warnings.ts';
import { NO_LISTS } from '../support/limits/no-lists.ts';
import { DETAILS } from '../support/request-details.ts';

const mintRequestId = createRequestIdMint(randomBytes);

type Connection = Pick<RedisConnection, 'send'>;

export const systemClock = { nowMs: () => Date.now() };

export const HELD_MICROS = 1_000;
export const BALANCE_MICROS = 1_000_000_000;
const DIGEST = 'digest';

export interface Payer {
  readonly bucket: number;
  readonly accountId: string;
  readonly keyId: string;
}

export function makePayer(bucket: number): Payer {
  const accountId = mintAccountId(bucket, randomBytes);
  return { bucket, accountId, keyId: mintKeyId(bucket, randomBytes) };
}

/** Writes the records of a payer, even of a payer that a server has lost. */
export async function createPayer(connection: Connection, payer: Payer): Promise<void> {
  const { bucket, accountId, keyId } = payer;
  const keys = keysOfBucket(bucket);
  const write = { expected: 'new', overlapMs: undefined, writeId: accountId };
  await writeRecord(connection, {
    ...write,
    subject: 'account',
    id: accountId,
    record: keys.account(accountId),
    index: keys.accounts,
    fields: { status: 'active', plan: 'team' },
  });
  await writeRecord(connection, {
    ...write,
    subject: 'key',
    id: keyId,
    record: keys.key(keyId),
    index: keys.keysOf(accountId),
    fields: { status: 'active', account: accountId, digest: DIGEST },
  });
  await credit(
    connection,
    {
      bucket,
      accountId,
      paymentId: 'first',
      micros: BALANCE_MICROS,
      kind: 'topup',
      isForced: false,
      note: '',
    },
    DEFAULT_WARNINGS,
  );
}

/** Admits a request and leaves it running. Returns its settlement. */
export async function begin(
  connection: Connection,
  payer: Payer,
  { actualMicros = 700, leaseMs = 60_000 } = {},
): Promise<Settlement> {
  const { bucket, keyId } = payer;
  const requestId = mintRequestId(Date.now());
  const reply: AdmitReply = await admitAlone(connection, {
    bucket,
    keyId,
    digest: DIGEST,
    modelNames: ['llm-a'],
    requestId,
    holdMicros: HELD_MICROS,
    holdLeastMicros: HELD_MICROS,
    leaseMs,
    windowMs: 1_000,
    plans: { starter: 1, pro: 1, business: 1, team: 1_000_000 },
    ...NO_LISTS,
  });
  if (reply.kind !== 'admitted') throw new Error(`not admitted: ${reply.kind}`);
  return { ...makeSettlement(payer, { actualMicros }), requestId, month: reply.month };
}

/** Admits this many requests that run at the same time, each with another cost. */
export async function beginMany(
  connection: Connection,
  payer: Payer,
  count: number,
): Promise<Settlement[]> {
  const settlements: Settlement[] = [];
  while (settlements.length < count) {
    const more = Array.from({ length: 50 }, (_, index) =>
      begin(connection, payer, { actualMicros: 1 + ((settlements.length + index) % HELD_MICROS) }),
    );
    settlements.push(...(await Promise.all(more)));
  }
  return settlements;
}

/** The settlement of a request that no server knows. */
export function makeSettlement(
  payer: Payer,
  { actualMicros = 700, lastKnownMs = Date.now() } = {},
): Settlement {
  const usage = {
    input: 1,
    cacheRead: 2,
    cacheWrite5m: 3,
    cacheWrite1h: 4,
    output: 5,
    thinking: 0,
    searches: 0,
  };
  return {
    ...payer,
    requestId: mintRequestId(lastKnownMs),
    month: '202611',
    model: 'llm-a',
    extras: '',
    actualMicros,
    lastKnownMs,
    usage: encodeLedgerUsage(usage, false, DETAILS),
  };
}

export function makeSettlements(count: number, payer = makePayer(7)): Settlement[] {
  return Array.from({ length: count }, () => makeSettlement(payer));
}

export function idsOf(settlements: Iterable<Settlement>): string[] {
  return [...settlements].map(({ requestId }) => requestId);
}

export interface LedgerLine {
  readonly kind: string;
  readonly request: string;
  readonly charged: number;
}

/** Reads the entries of requests in the ledger of a bucket. */
export async function readLedger(connection: Connection, bucket: number): Promise<LedgerLine[]> {
  const { ledger } = keysOfBucket(bucket);
  const entries = (await connection.send('xrange', [ledger, '-', '+'])) as [string, string[]][];
  const lines = entries.map(([, fields]) => {
    const values = splitLedgerEntry(fields);
    const field = (name: string) => values.get(name) ?? '';
    return { kind: field('kind'), request: field('request'), charged: Number(field('charged')) };
  });
  return lines.filter(({ kind }) => kind !== 'topup');
}

export async function readBalance(connection: Connection, payer: Payer) {
  const record = keysOfBucket(payer.bucket).account(payer.accountId);
  const [balance, held] = (await connection.send('hmget', [record, 'balance', 'held'])) as string[];
  return { balance: Number(balance), held: Number(held) };
}

/**
 * Returns what is wrong, if each settlement should be charged once at its own cost, and nothing
 * else.
 */
export async function findWrongCharges(
  connection: Connection,
  payer: Payer,
  settlements: readonly Settlement[],
): Promise<string[]> {
  const lines = await readLedger(connection, payer.bucket);
  const problems: string[] = [];
  const charged = new Map(lines.map((line) => [line.request, line.charged]));
  if (charged.size !== lines.length) problems.push('a request has two entries');
  if (lines.length !== settlements.length) problems.push(`${lines.length} entries`);
  for (const { requestId, actualMicros } of settlements) {
    if (charged.get(requestId) !== actualMicros) problems.push(`${requestId} is charged wrongly`);
  }
  const sum = settlements.reduce((total, { actualMicros }) => total + actualMicros, 0);
  const { balance, held } = await readBalance(connection, payer);
  if (balance !== BALANCE_MICROS - sum) problems.push(`balance ${balance}`);
  if (held !== 0) problems.push(`held ${held}`);
  return problems;
}
