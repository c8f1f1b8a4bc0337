import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Pool } from 'undici';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { type AdmitArguments, createGatheredAdmit } from '../../src/quota/scripts/admit.ts';
import { connectRedis, type RedisConnection } from '../../src/redis/connect-redis.ts';
import { createHttpClient } from '../../src/upstream/http1/create-http-client.ts';
import { NO_LISTS } from '../../test/support/limits/no-lists.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { startUpstream } from '../compare/upstream/start-upstream.ts';
import { endProcess, startRedis } from '../support/processes.ts';
import { cpuMicrosOfWaves, type Measure, type Twin } from './twin.ts';

const AT_ONCE = 32;
const WAVES = 100;
const LOAD = { atOnce: AT_ONCE, waves: WAVES };
const START_MAX_MS = 10_000;
const BODY = Buffer.from(JSON.stringify({ model: 'haiku', content: 'Lorem ipsum '.repeat(40) }));
const HEADERS = { 'content-type': 'application/json', 'x-api-key': 'of the vendor' };
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const KEY = { bucket: 5, keyId: '05thekey001', digest: 'digest', accountId: 'acct_05account001' };
const PLAN_MAX = 1_000_000_000;

export interface NetworkTwins {
  readonly twins: readonly Twin[];
  stop(): Promise<void>;
}

/**
 * The upstream and Redis have their own processes. Their CPU time does not count unless a twin says
 * so.
 */
export async function startNetworkTwins(): Promise<NetworkTwins> {
  const upstream = await startUpstream({ latencyMs: 0, events: 0, gapMs: 0 });
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const server = startRedis(dir);
  const path = join(dir, 'redis.sock');
  await waitUntil(() => existsSync(path), 'Redis has its socket', START_MAX_MS);
  const line = connect(path, true);
  const client = connect(path, false);
  const plain = new Redis({ path });
  await waitUntil(() => hasLine(line), 'the direct line is used', START_MAX_MS);
  await provide(plain);
  return {
    twins: [clientTwin(upstream.port), ...redisTwins({ plain, client, line })],
    async stop() {
      plain.disconnect();
      await Promise.all([line.close(), client.close()]);
      await upstream.stop();
      await endProcess(server);
      rmSync(dir, { recursive: true });
    },
  };
}

function connect(path: string, isBusy: boolean): RedisConnection {
  const target = {
    topology: 'standalone',
    endpoint: { kind: 'unix', path },
    tls: false,
    auth: { username: undefined, password: undefined },
    database: 0,
  } as const;
  return connectRedis({ target, name: 'bench', commandTimeoutMs: 5_000, isBusy, log: SILENT });
}

const hasLine = (connection: RedisConnection) =>
  connection.send('client', ['info']).then(
    (info) => String(info).includes('name=bench-direct'),
    () => false,
  );

/** A key without limits. */
async function provide(redis: Redis): Promise<void> {
  const keys = keysOfBucket(KEY.bucket);
  const active = { status: 'active', version: 1 };
  const account = { ...active, plan: 'team', balance: 1_000_000_000_000 };
  await redis.hset(keys.account(KEY.accountId), account);
  await redis.hset(keys.key(KEY.keyId), {
    ...active,
    ...{ account: KEY.accountId, digest: KEY.digest },
  });
}

function clientTwin(port: number): Twin {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: AT_ONCE });
  const client = createHttpClient({
    origin: { protocol: 'http:', host: '127.0.0.1', port },
    ...{ connectionsMax: 2 * AT_ONCE, connectTimeoutMs: START_MAX_MS },
    clock: { nowMs: () => Date.now() },
  });
  const place = { path: '/v1/messages', method: 'POST' } as const;
  const askPlain = async () => {
    const { body } = await pool.request({ ...place, headers: HEADERS, body: BODY });
    await body.dump();
  };
  const asked = {
    ...place,
    headers: Object.entries(HEADERS).flat(),
    body: [BODY],
  } as const;
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const nothing = { onHead() {}, onData() {} };
      client.send(asked, { ...nothing, onEnd: resolve, onFail: () => reject(new Error('lost')) });
    });
  return {
    file: 'src/upstream/http1/create-http-client.ts',
    what: 'a request to an upstream and its answer',
    unit: 'us',
    plain: cpuMicrosOfWaves(askPlain, LOAD),
    fast: cpuMicrosOfWaves(ask, LOAD),
  };
}

interface Connections {
  readonly plain: Redis;
  readonly client: RedisConnection;
  readonly line: RedisConnection;
}

const SCRIPT = `return {'admitted', '1795000000000', '1000', '999', '60000', 'acct_05account001', '202611', 530}`;
const ARGS = [
  createHash('sha1').update(SCRIPT).digest('hex'),
  4,
  ...['{b5}key:05thekey001', '{b5}holds', '{b5}leases', '{b5}done:29916666'],
  ...['{b5}', '05thekey001', 'digest', Buffer.alloc(40), 'llm-haiku-4.5,haiku'],
  ...['req_0TtWXsY1bHrZ6mPq3Lx8Kd2V', Buffer.alloc(24)],
];

function redisTwins({ plain, client, line }: Connections): Twin[] {
  const loaded = plain.script('LOAD', SCRIPT);
  const call = (send: () => Promise<unknown>): Measure => {
    const measure = cpuMicrosOfWaves(send, LOAD);
    return async () => {
      await loaded;
      return await measure();
    };
  };
  return [
    {
      file: 'src/redis/direct-line/create-command.ts',
      what: 'a call of a script through the Redis client',
      unit: 'us',
      plain: call(() => plain.call('evalsha', ARGS)),
      fast: call(() => client.send('evalsha', ARGS)),
    },
    {
      file: 'src/redis/direct-line/direct-line.ts',
      what: 'a call of a script',
      unit: 'us',
      plain: call(() => client.send('evalsha', ARGS)),
      fast: call(() => line.send('evalsha', ARGS)),
    },
    {
      file: 'src/redis/create-gatherer.ts',
      what: `an admission of one key, ${AT_ONCE} at once: this process and Redis`,
      unit: 'us',
      plain: withServer(plain, (order) => createGatheredAdmit(line)(order)),
      fast: withServer(plain, createGatheredAdmit(line)),
    },
  ];
}

/** Includes the CPU time of the server. */
function withServer(server: Redis, ask: (order: AdmitArguments) => Promise<unknown>): Measure {
  const measure = cpuMicrosOfWaves(() => ask(nextOrder()), LOAD);
  return async () => {
    const before = await readServerMicros(server);
    const own = await measure();
    return own + ((await readServerMicros(server)) - before) / (AT_ONCE * WAVES);
  };
}

async function readServerMicros(server: Redis): Promise<number> {
  const info = await server.info('cpu');
  const seconds = [...info.matchAll(/used_cpu_(?:sys|user):([\d.]+)/g)].map(([, text]) =>
    Number(text),
  );
  return 1e6 * seconds.reduce((sum, each) => sum + each, 0);
}

const plans = { starter: PLAN_MAX, pro: PLAN_MAX, business: PLAN_MAX, team: PLAN_MAX };
let orders = 0;

function nextOrder(): AdmitArguments {
  orders += 1;
  return {
    ...{ bucket: KEY.bucket, keyId: KEY.keyId, digest: KEY.digest },
    requestId: `req_0TtWXs${String(orders).padStart(18, '0')}`,
    modelNames: ['llm-haiku-4.5', 'haiku'],
    ...{ holdMicros: 530, holdLeastMicros: 530, leaseMs: 15_000, windowMs: 10_000 },
    plans,
    ...NO_LISTS,
  };
}
