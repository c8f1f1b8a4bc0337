import { randomBytes } from 'node:crypto';
import { mintAccountId } from '../../src/keys/account-id.ts';
import { mintApiKey, mintKeyId } from '../../src/keys/api-key.ts';
import { digestKey } from '../../src/keys/digest-key.ts';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { credit, type Payment } from '../../src/quota/scripts/credit.ts';
import { settle } from '../../src/quota/scripts/settle.ts';
import { writeRecord } from '../../src/quota/scripts/write-record.ts';
import { encodeLedgerUsage } from '../../src/quota/settlement/settlement.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import { admitAlone } from '../support/limits/admit-alone.ts';
import { DEFAULT_WARNINGS } from '../support/limits/default-warnings.ts';
import { NO_LISTS } from '../support/limits/no-lists.ts';
import { DETAILS } from '../support/request-details.ts';

const mintRequestId = createRequestIdMint(randomBytes);

export const USAGE = {
  input: 11,
  cacheRead: 22,
  cacheWrite5m: 33,
  cacheWrite1h: 44,
  output: 200,
  thinking: 66,
  searches: 0,
};

export interface TestAccount {
  readonly bucket: number;
  readonly id: string;
  readonly keyId: string;
  readonly digest: string;
}

type Connection = Pick<RedisConnection, 'send'>;

/** An account with one key and, unless the amount is 0, some credit. */
export async function createAccount(
  connection: Connection,
  bucket: number,
  micros = 1_000_000_000,
): Promise<TestAccount> {
  const redisKeys = keysOfBucket(bucket);
  const id = mintAccountId(bucket, randomBytes);
  const keyId = mintKeyId(bucket, randomBytes);
  const digest = digestKey(mintApiKey(keyId, randomBytes));
  const write = { expected: 'new', overlapMs: undefined, writeId: id };
  await writeRecord(connection, {
    ...write,
    subject: 'account',
    id,
    record: redisKeys.account(id),
    index: redisKeys.accounts,
    fields: { status: 'active', plan: 'team' },
  });
  await writeRecord(connection, {
    ...write,
    subject: 'key',
    id: keyId,
    record: redisKeys.key(keyId),
    index: redisKeys.keysOf(id),
    fields: { status: 'active', account: id, digest },
  });
  const account = { bucket, id, keyId, digest };
  if (micros !== 0) await pay(connection, account, { paymentId: 'first', micros });
  return account;
}

export async function pay(
  connection: Connection,
  { bucket, id }: TestAccount,
  payment: Pick<Payment, 'paymentId' | 'micros'> & Partial<Payment>,
): Promise<void> {
  const reply = await credit(
    connection,
    {
      bucket,
      accountId: id,
      kind: 'topup',
      isForced: false,
      note: '',
      ...payment,
    },
    DEFAULT_WARNINGS,
  );
  if (reply.kind !== 'credited') throw new Error(`not credited: ${reply.kind}`);
}

/** Admits a request and leaves it running. Returns the function that ends it. */
export async function begin(
  connection: Connection,
  { bucket, id, keyId, digest }: TestAccount,
  { heldMicros = 1_000, leaseMs = 60_000 } = {},
) {
  const requestId = mintRequestId(Date.now());
  const reply = await admitAlone(connection, {
    bucket,
    keyId,
    digest,
    modelNames: ['llm-a'],
    requestId,
    holdMicros: heldMicros,
    holdLeastMicros: heldMicros,
    leaseMs,
    windowMs: 1_000,
    plans: { starter: 1, pro: 1, business: 1, team: 1_000_000 },
    ...NO_LISTS,
  });
  if (reply.kind !== 'admitted') throw new Error(`not admitted: ${reply.kind}`);
  const settlement = {
    bucket,
    accountId: id,
    keyId,
    requestId,
    month: reply.month,
    model: 'llm-a',
    extras: '',
    lastKnownMs: Date.now(),
    usage: encodeLedgerUsage(USAGE, true, DETAILS),
  };
  return {
    requestId,
    month: reply.month,
    end: (actualMicros: number) =>
      settle(connection, { ...settlement, actualMicros }, DEFAULT_WARNINGS),
  };
}

/** Runs a whole request. Returns its id. */
export async function serve(
  connection: Connection,
  account: TestAccount,
  actualMicros = 700,
): Promise<string> {
  const request = await begin(connection, account);
  await request.end(actualMicros);
  return request.requestId;
}

/** The places of all entries that the streams of these buckets hold now. */
export async function streamPlaces(
  connection: Connection,
  buckets: Iterable<number>,
): Promise<Set<string>> {
  const places = new Set<string>();
  for (const bucket of buckets) {
    const { ledger } = keysOfBucket(bucket);
    const entries = (await connection.send('xrange', [ledger, '-', '+'])) as [string, string[]][];
    for (const [id] of entries) places.add(`${bucket} ${id}`);
  }
  return places;
}

/** Makes some entries. Returns the places of all entries that exist. */
export async function fillBuckets(
  connection: Connection,
  buckets: readonly number[],
): Promise<Set<string>> {
  for (const bucket of buckets) {
    const account = await createAccount(connection, bucket);
    for (let i = 0; i < 5; i++) await serve(connection, account);
  }
  return streamPlaces(connection, buckets);
}
