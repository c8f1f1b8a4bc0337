import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketOfAccount } from '../../../src/keys/account-id.ts';
import { createDeferred } from '../../../src/lib/time/deferred.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { admin } from '../../support/clients/admin.ts';
import { askGateway, type Told } from '../../support/clients/ask-gateway.ts';
import { expectAdmitted } from '../../support/clients/expect-admitted.ts';
import { type Entry, readEntries } from '../../support/ledger/read-entries.ts';
import { verifyLedger } from '../../support/ledger/verify-ledger.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import { type ClockedRedis, startClockedRedis } from '../../support/servers/start-clocked-redis.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../../support/upstreams/start-scripted-upstream.ts';
import {
  chunkOf,
  LAST_CHUNK,
  STREAM_HEAD,
  streamParts,
  USAGE,
} from '../../support/upstreams/upstream-answers.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_UPSTREAM } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const HOUR = 3_600;
const PER_MINUTE = 20;
/** Credits per million tokens: each token costs a whole number of micro-credits. */
const PRICE = { input: 1_000, output: 100_000 };
const LONG_STREAMS = 6;
/** Longer than any lease. */
const NEXT_JUMP = 100;
/** Enough for about five requests at once. */
const SMALL_CREDITS = 60;

const cleanUp = useCleanUp();
let redis: ClockedRedis;
let redisUrl: string;
let upstream: ScriptedUpstream;
let gateway: Gateway;
let store: TestConnection;

beforeAll(async () => {
  redis = await startClockedRedis(['--appendonly', 'yes', '--appendfsync', 'everysec']);
  redisUrl = `redis://127.0.0.1:${redis.port}`;
  upstream = await startScriptedUpstream(cleanUp);
  const model = `max_output_tokens: 1000, price: ${JSON.stringify(PRICE)}`;
  const held = `{name: held, kind: native, url: "${upstream.url}/held", api_key: vendor-key}`;
  gateway = await startGateway({
    config: [
      'workers: 2',
      `plans: {starter: ${PER_MINUTE}, team: 1000000}`,
      `models:`,
      `  - {id: quick, ${model}, routes: [{upstream: simulated}]}`,
      `  - {id: held, ${model}, routes: [{upstream: held}]}`,
      FAST_UPSTREAM.replace('}}]', `}}, ${held}]`),
    ].join('\n'),
    env: { TOLLGATE_REDIS_URL: redisUrl },
    cleanUp,
  });
  store = openConnection(standalone(tcp(redis.port)));
  await waitForRedis(store);
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

interface Caller {
  readonly account: string;
  readonly key: string;
  /** The records as the store has them. */
  accountRecord(): Promise<Record<string, string>>;
  keyRecord(): Promise<Record<string, string>>;
  /** The entries of the ledger, including all payments. */
  entries(): Promise<readonly Entry[]>;
}

type Answer = Told & { readonly caller: Caller };

async function createCaller(plan: string, credits: number, controls = {}): Promise<Caller> {
  const operator = admin(gateway);
  const account = await operator.createAccount({ plan, credits });
  const { id: keyId, key } = await operator.createKey(account, controls);
  const names = keysOfBucket(bucketOfAccount(account) ?? -1);
  const readRecord = async (name: string) =>
    (await store.send('hgetall', [name])) as Record<string, string>;
  return {
    account,
    key,
    accountRecord: () => readRecord(names.account(account)),
    keyRecord: () => readRecord(names.key(keyId)),
    entries: () => readEntries({ store, gateway, account }),
  };
}

async function askFor(caller: Caller, model: string, n: number, prompt: string): Promise<Answer> {
  const question = { url: gateway.url, key: caller.key, model, prompt };
  const format = n % 2 === 0 ? 'native' : 'chat';
  return { ...(await askGateway({ ...question, format, isStream: n % 4 < 2 })), caller };
}

/** Clients that ask again as soon as they have an answer. They note what every answer told. */
function startClients(callers: readonly Caller[], clientsOfEach: number) {
  const told: Answer[] = [];
  let isStopped = false;
  const run = async (caller: Caller, client: number) => {
    for (let n = client; !isStopped; n += 1) {
      const answer = await askFor(caller, 'quick', n, '[[tokens 50]] [[slow 5]]');
      told.push(answer);
      if (answer.status !== 200) await sleep(20);
    }
  };
  const running = callers.flatMap((caller) =>
    Array.from({ length: clientsOfEach }, (_, client) => run(caller, client)),
  );
  return {
    told,
    async waitForMore() {
      const before = told.length;
      await waitUntil(() => told.length >= before + 100, 'the load goes on');
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

/** Reads the records all the time, and keeps every state that must never occur. */
function startWatch(callers: readonly Caller[]) {
  const wrong: string[] = [];
  let isStopped = false;
  const run = async (caller: Caller) => {
    while (!isStopped) {
      const { balance = '', held = '0' } = await caller.accountRecord();
      if (Number(held) < 0 || Number(held) > Number(balance)) wrong.push(`${held} of ${balance}`);
      for (const [field, value] of Object.entries(await caller.keyRecord())) {
        if (/^(held:|spent:|in_flight$)/.test(field) && Number(value) < 0)
          wrong.push(`${field} ${value}`);
      }
      await sleep(1);
    }
  };
  const running = callers.map(run);
  return {
    async stop() {
      isStopped = true;
      await Promise.all(running);
      return wrong;
    },
  };
}

/** Requests whose upstream has begun to answer and continues when the test says so. */
async function openLongAnswers(caller: Caller) {
  const ending = createDeferred();
  const { begin, say, end } = streamParts('native');
  upstream.play('/held', async function* () {
    yield STREAM_HEAD + chunkOf(begin + say('Hello'));
    await ending.promise;
    yield chunkOf(end(USAGE)) + LAST_CHUNK;
  });
  const answers = Array.from({ length: LONG_STREAMS }, (_, n) => askFor(caller, 'held', n, 'Hi'));
  await waitUntil(
    () => upstream.requests('/held').length === LONG_STREAMS,
    'all are with the upstream',
  );
  return {
    end() {
      ending.resolve();
      return Promise.all(answers);
    },
  };
}

/**
 * Sets the clock ahead until so many holds were swept. Those that are renewed between a jump and
 * their sweep have a whole lease more, so the clock jumps again.
 */
async function jumpUntilSwept(caller: Caller, seconds: number, count: number): Promise<void> {
  const { renewals } = keysOfBucket(bucketOfAccount(caller.account) ?? -1);
  let ahead = seconds;
  await redis.setAhead(ahead);
  await waitUntil(async () => {
    if ((await countOf(caller, 'expired')) >= count) return true;
    const now = Date.now() + ahead * 1_000;
    if (Number(await store.send('zcount', [renewals, `(${now}`, '+inf'])) > 0) {
      ahead += NEXT_JUMP;
      await redis.setAhead(ahead);
    }
    return false;
  }, 'their holds are swept');
}

function costOf({ inputTokens = 0, outputTokens = 0 }: Told): number {
  return inputTokens * PRICE.input + outputTokens * PRICE.output;
}

async function countOf(caller: Caller, kind: string): Promise<number> {
  return (await caller.entries()).filter((entry) => entry.kind === kind).length;
}

/** Expects that each of its answers was charged by its usage, whatever became of its hold. */
async function expectCharged(caller: Caller, told: readonly Answer[]): Promise<void> {
  const charges = new Map<string, number>();
  for (const { request, charged, short } of await caller.entries()) {
    expect(short).toBe(0);
    charges.set(request, (charges.get(request) ?? 0) + charged);
  }
  const costs = told.flatMap((answer) => {
    const id = answer.headers.get('request-id') ?? '';
    const isCharged = answer.caller === caller && answer.status === 200;
    return isCharged || charges.has(id) ? [[id, costOf(answer)] as const] : [];
  });
  charges.delete('first');
  expect(new Map(costs)).toEqual(charges);
}

async function expectNothingHeld(caller: Caller): Promise<void> {
  await admin(gateway).waitUntilSettled(caller.account);
  const { balance, held } = await caller.accountRecord();
  const { in_flight: inFlight, ...rest } = await caller.keyRecord();
  const heldFields = Object.keys(rest).filter((field) => field.startsWith('held:'));
  expect([held, inFlight, heldFields]).toEqual(['0', '0', []]);
  const entries = await caller.entries();
  expect(Number(balance)).toBe(entries.reduce((sum, { charged }) => sum - charged, 0));
}

describe('a clock of Redis that jumps under load', () => {
  it('makes no charge wrong, leaves nothing held and lets nobody overspend', async () => {
    const rich = await createCaller('team', 100_000);
    const poor = await createCaller('team', SMALL_CREDITS);
    const callers = [rich, poor];
    const watch = startWatch(callers);
    const clients = startClients(callers, 4);
    const long: Answer[] = [];
    const { renewals } = keysOfBucket(bucketOfAccount(rich.account) ?? -1);
    const hasRenewedAll = async () => Number(await store.send('zcard', [renewals])) >= LONG_STREAMS;
    await clients.waitForMore();

    for (const seconds of [200, HOUR]) {
      const answers = await openLongAnswers(rich);
      const sweptBefore = await countOf(rich, 'expired');
      if (seconds === HOUR) await waitUntil(hasRenewedAll, 'their holds are renewed');
      await jumpUntilSwept(rich, seconds, sweptBefore + LONG_STREAMS);
      await clients.waitForMore();
      await redis.setAhead(0);
      await clients.waitForMore();
      long.push(...(await answers.end()));
    }
    await clients.stop();
    for (const caller of callers) await expectNothingHeld(caller);
    expect(await watch.stop()).toEqual([]);

    const told = [...clients.told, ...long];
    // A machine that is busy enough has Redis answer too late, which is a 503 and free.
    const statuses = told.map(({ status }) => status).filter((status) => status !== 503);
    expect(new Set(statuses)).toEqual(new Set([200, 402]));
    expect(told.filter(({ status, isComplete }) => status === 200 && !isComplete)).toEqual([]);
    await expectCharged(rich, told);
    expect(await countOf(rich, 'late')).toBeGreaterThanOrEqual(2 * LONG_STREAMS);
    expect(Number((await poor.accountRecord())['balance'])).toBeGreaterThanOrEqual(0);
    expect(await verifyLedger(gateway, redisUrl)).toMatchObject({
      is_clean: true,
      unsettled: { holds: 0 },
    });
  });

  it('lets nobody have more than a window at a time, and a fresh one after a jump', async () => {
    const caller = await createCaller('starter', 1_000);
    const askOften = () => {
      const asked = Array.from({ length: 3 * PER_MINUTE }, (_, n) =>
        askFor(caller, 'quick', n, '[[tokens 1]]'),
      );
      return Promise.all(asked);
    };
    expectAdmitted(await askOften(), PER_MINUTE);
    await redis.setAhead(20);
    expectAdmitted(await askOften(), 0);
    for (const seconds of [200, 0, HOUR, 0]) {
      await redis.setAhead(seconds);
      expectAdmitted(await askOften(), PER_MINUTE);
      expectAdmitted(await askOften(), 0);
    }
    await expectNothingHeld(caller);
    expect(await verifyLedger(gateway, redisUrl)).toMatchObject({ is_clean: true });
  });
});
