/**
 * `kept-answers` tells what an answer that is kept costs Redis, and the next one that refers to it:
 * microseconds in scripts, and `MEMORY USAGE` beside the bytes that are counted against the bounds.
 * An account keeps new answers the whole time, so its oldest give way.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mintAccountId } from '../../src/keys/account-id.ts';
import { mintKeyId } from '../../src/keys/api-key.ts';
import { unixRedisTarget } from '../../src/lib/address/redis-target.ts';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { keep } from '../../src/quota/scripts/kept/keep.ts';
import { recall } from '../../src/quota/scripts/kept/recall.ts';
import { connectRedis, type RedisConnection } from '../../src/redis/connect-redis.ts';
import { waitForConnection } from '../../src/redis/wait-for-connection.ts';
import { endProcess, startRedis } from '../support/processes.ts';
import { writeResult } from '../support/write-result.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: { answers: { type: 'string', default: '20000' } },
});
const ANSWERS = Number(values.answers);
const START_MAX_MS = 10_000;
const MIB = 1024 ** 2;
const BOUNDS = {
  ...{ ttlMs: 3_600_000, answerBytesMax: 2 * MIB, accountBytesMax: 8 * MIB },
  bucketBytesMax: 16 * MIB,
};
/** Bytes of what was asked, and of the output. */
const SIZES = [
  ['a line', 200, 400],
  ['a step of an agent', 10_000, 2_000],
  ['a long conversation', 100_000, 4_000],
] as const;
const BUCKET = 7;
const DIGEST = 'd'.repeat(43);
const ECHO = JSON.stringify({ object: 'response', status: 'completed', tools: ['t'.repeat(600)] });

const silent = () => {};
const dir = mkdtempSync(join(tmpdir(), 'tollgate-kept-'));
const redis = startRedis(dir);
const mintRequestId = createRequestIdMint(randomBytes);
const names = keysOfBucket(BUCKET);

async function readScriptUs(connection: RedisConnection): Promise<number> {
  const text = String(await connection.send('info', ['commandstats']));
  return Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(text)?.[1] ?? 0);
}

async function readMemory(connection: RedisConnection, accountId: string) {
  const { keptBytes, keptTotal, keptEnds } = names;
  const kept = [names.kept, names.keptQueue, names.keptRests].map((name) => name(accountId));
  const sizes = await Promise.all(
    [...kept, keptBytes, keptTotal, keptEnds].map((name) =>
      connection.send('memory', ['usage', name, 'samples', '0']),
    ),
  );
  return sizes.reduce<number>((sum, size) => sum + Number(size ?? 0), 0);
}

async function measure(connection: RedisConnection, inputBytes: number, outputBytes: number) {
  await connection.send('flushall', []);
  const [accountId, keyId] = [mintAccountId(BUCKET, randomBytes), mintKeyId(BUCKET, randomBytes)];
  const key = ['status', 'active', 'account', accountId, 'digest', DIGEST];
  await connection.send('hset', [names.account(accountId), 'status', 'active']);
  await connection.send('hset', [names.key(keyId), ...key]);
  const input = Buffer.alloc(inputBytes, 'i');
  const texts = { previousId: '', input, output: 'o'.repeat(outputBytes), response: ECHO };
  let id = '';
  const one = async () => {
    id = `resp_${mintRequestId(Date.now()).slice(4)}`;
    await keep(connection, { bucket: BUCKET, keyId }, { ...texts, id }, BOUNDS);
  };
  for (let i = 0; i < ANSWERS / 2; i++) await one();
  const before = await readScriptUs(connection);
  for (let i = 0; i < ANSWERS; i++) await one();
  const kept = await readScriptUs(connection);
  const question = { previousId: id, responseIds: [id] };
  const asker = { bucket: BUCKET, keyId, digest: DIGEST };
  for (let i = 0; i < ANSWERS; i++) await recall(connection, asker, question);
  const recalled = await readScriptUs(connection);
  return {
    keepUs: (kept - before) / ANSWERS,
    recallUs: (recalled - kept) / ANSWERS,
    countedBytes: Number(await connection.send('get', [names.keptTotal])),
    memoryBytes: await readMemory(connection, accountId),
    answers: Number(await connection.send('llen', [names.keptQueue(accountId)])),
  };
}

const connection = connectRedis({
  ...{ target: unixRedisTarget(join(dir, 'redis.sock')), name: 'bench', commandTimeoutMs: 60_000 },
  log: { debug: silent, info: silent, warn: silent, error: silent },
});
try {
  await waitForConnection(connection, START_MAX_MS);
  const rows: string[] = [];
  const figures: object[] = [];
  for (const [title, inputBytes, outputBytes] of SIZES) {
    const result = await measure(connection, inputBytes, outputBytes);
    const { keepUs, recallUs, countedBytes, memoryBytes, answers } = result;
    figures.push({ title, inputBytes, outputBytes, ...result });
    const mib = [countedBytes, memoryBytes].map((bytes) => (bytes / MIB).toFixed(2));
    const times = [keepUs, recallUs].map((us) => us.toFixed(1));
    const size = `${inputBytes.toLocaleString('en')} + ${outputBytes.toLocaleString('en')}`;
    rows.push(`| ${[title, size, ...times, answers.toLocaleString('en'), ...mib].join(' | ')} |`);
    console.error(rows.at(-1));
  }
  const head = [
    '| answer | bytes asked + output | us to keep | us to recall | kept | MiB counted | MiB in Redis |',
    '|---|--:|--:|--:|--:|--:|--:|',
  ];
  writeResult('kept-answers', [...head, ...rows].join('\n'), { figures });
} finally {
  await connection.close();
  await endProcess(redis);
  rmSync(dir, { recursive: true });
}
