/**
 * `quota-cost` tells what an admission and its settlement cost Redis: CPU time of the server, apart
 * from the process that asks, with one key and with many.
 */

import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mintAccountId } from '../../src/keys/account-id.ts';
import { mintKeyId } from '../../src/keys/api-key.ts';
import { BUCKETS } from '../../src/keys/bucket-tags.ts';
import { unixRedisTarget } from '../../src/lib/address/redis-target.ts';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { createGatheredAdmit } from '../../src/quota/scripts/admit.ts';
import { createGatheredSettle } from '../../src/quota/scripts/settle.ts';
import { encodeLedgerUsage } from '../../src/quota/settlement/settlement.ts';
import { connectRedis, type RedisConnection } from '../../src/redis/connect-redis.ts';
import { waitForConnection } from '../../src/redis/wait-for-connection.ts';
import { DEFAULT_WARNINGS } from '../../test/support/limits/default-warnings.ts';
import { NO_LISTS } from '../../test/support/limits/no-lists.ts';
import { DETAILS } from '../../test/support/request-details.ts';
import { endProcess, startRedis } from '../support/processes.ts';
import { writeResult } from '../support/write-result.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    keys: { type: 'string', default: '1,10000,1000000' },
    requests: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    lists: { type: 'boolean', default: false },
  },
});
const REQUESTS = Number(values.requests);
const ROUNDS = Number(values.rounds);
const IN_FLIGHT = 64;
const FILL_AT_ONCE = 1_000;
const TICKS_PER_SECOND = 100;
const START_MAX_MS = 10_000;
const BALANCE = '9000000000000';
const CAP = '4000000000000';
const HOLD = { holdMicros: 5_000, holdLeastMicros: 5_000, leaseMs: 15_000, windowMs: 60_000 };
const PLANS = { starter: 60, pro: 300, business: 20_000_000, team: 30_000_000 };
const USAGE = { ...{ input: 900, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 } };
const usage = encodeLedgerUsage(
  { ...USAGE, output: 350, thinking: 0, searches: 0 },
  false,
  DETAILS,
);
/** Two windows of tokens and two budgets, beside the limits that every key has. */
const LIST = values.lists
  ? 't,60000,9000000000,b;t,18000000,9000000000,b;c,d,9000000000000,b;c,w,9000000000000,b;'
  : '';
const MODEL_NAMES = ['llm-opus-4.7', 'opus'];

const silent = () => {};
const dir = mkdtempSync(join(tmpdir(), 'tollgate-quota-'));
const redis = startRedis(dir);
const mintRequestId = createRequestIdMint(randomBytes);

interface Subject {
  readonly bucket: number;
  readonly accountId: string;
  readonly keyId: string;
}

function readCpuUs(): number {
  const text = readFileSync(`/proc/${redis.pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND;
}

async function fill(connection: RedisConnection, count: number): Promise<Subject[]> {
  await connection.send('flushall', []);
  const subjects: Subject[] = [];
  const now = String(Date.now());
  for (let first = 0; first < count; first += FILL_AT_ONCE) {
    const writes: Promise<unknown>[] = [];
    for (let i = first; i < Math.min(count, first + FILL_AT_ONCE); i++) {
      const bucket = (i * 7) % BUCKETS;
      const accountId = mintAccountId(bucket, randomBytes);
      const keyId = mintKeyId(bucket, randomBytes);
      const keys = keysOfBucket(bucket);
      const shared = ['created', now, 'version', '1', 'writes', 'abcdefghijkl'];
      const account = ['name', `Account ${i}`, 'status', 'active', 'plan', 'business'];
      const key = ['status', 'active', 'account', accountId, 'digest', 'd'.repeat(43)];
      const controls = ['last4', 'abcd', 'rpm', '10000000', 'cap', CAP];
      writes.push(
        connection.send('hset', [
          keys.account(accountId),
          ...account,
          'balance',
          BALANCE,
          ...shared,
          ...(LIST === '' ? [] : ['limits', LIST]),
        ]),
        connection.send('hset', [
          keys.key(keyId),
          ...key,
          ...controls,
          ...shared,
          ...(LIST === '' ? [] : ['limits', `||${LIST}|`]),
        ]),
      );
      subjects.push({ bucket, accountId, keyId });
    }
    await Promise.all(writes);
  }
  return subjects;
}

async function readCalls(connection: RedisConnection): Promise<number> {
  const text = String(await connection.send('info', ['commandstats']));
  return Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(text)?.[1] ?? 0);
}

async function run(connection: RedisConnection, subjects: readonly Subject[], requests: number) {
  const admit = createGatheredAdmit(connection);
  const settle = createGatheredSettle(connection, DEFAULT_WARNINGS);
  let started = 0;
  const one = async () => {
    const subject = subjects[Math.floor(Math.random() * subjects.length)] as Subject;
    const requestId = mintRequestId(Date.now());
    const reply = await admit({
      ...{ bucket: subject.bucket, keyId: subject.keyId, digest: 'd'.repeat(43), requestId },
      ...{ modelNames: MODEL_NAMES, ...HOLD, plans: PLANS, ...NO_LISTS },
    });
    if (reply.kind !== 'admitted') throw new Error(`not admitted: ${reply.kind}`);
    await settle({
      ...subject,
      ...{ requestId, month: reply.month, model: 'llm-opus-4.7', extras: reply.extras },
      ...{ actualMicros: 1_234, lastKnownMs: Date.now(), usage },
    });
  };
  const client = async () => {
    while (started++ < requests) await one();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, client));
}

async function measure(connection: RedisConnection, count: number) {
  const subjects = await fill(connection, count);
  await run(connection, subjects, REQUESTS / 2);
  const rounds: { cpuUs: number; scriptUs: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [cpu, calls] = [readCpuUs(), await readCalls(connection)];
    await run(connection, subjects, REQUESTS);
    rounds.push({
      cpuUs: (readCpuUs() - cpu) / REQUESTS,
      scriptUs: ((await readCalls(connection)) - calls) / REQUESTS,
    });
  }
  rounds.sort((one, other) => one.cpuUs - other.cpuUs);
  return { count, ...rounds[Math.floor(ROUNDS / 2)] };
}

const target = unixRedisTarget(join(dir, 'redis.sock'));
const connection = connectRedis({
  ...{ target, name: 'bench', commandTimeoutMs: 60_000, isBusy: true },
  log: { debug: silent, info: silent, warn: silent, error: silent },
});
try {
  await waitForConnection(connection, START_MAX_MS);
  const rows: string[] = [];
  for (const count of String(values.keys).split(',').map(Number)) {
    const { cpuUs = 0, scriptUs = 0 } = await measure(connection, count);
    rows.push(`| ${count.toLocaleString('en')} | ${cpuUs.toFixed(1)} | ${scriptUs.toFixed(1)} |`);
    console.error(rows.at(-1));
  }
  writeResult(
    'quota-cost',
    ['| keys | us of CPU | us in scripts |', '|--:|--:|--:|', ...rows].join('\n'),
    {},
  );
} finally {
  await connection.close();
  await endProcess(redis);
  rmSync(dir, { recursive: true });
}
