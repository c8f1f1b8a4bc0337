import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { bucketOfAccount } from '../../../src/keys/account-id.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_UPSTREAM } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Enough for a log, and so few that a slow machine too fills both windows. */
const LIMIT = 24;
const ASKERS = 8;
/** Between two questions of one of them: most are refused, and all at once would fill both cores. */
const THINK_MS = 100;
/**
 * A log lives for three of the windows that write it, which is shorter than its times count in the
 * longer window.
 */
const SHORT = settingsOf('1s');
const LONG = settingsOf('5s');

afterAll(stopRedisServers);

function settingsOf(window: string): string {
  return `workers: 1\n${FAST_UPSTREAM}limits: {rate_window: ${window}}\n`;
}

/** Asks without end, and counts every status that it sees. */
function startAsking(gateways: readonly Gateway[], key: string) {
  const counts: Record<number, number> = {};
  let isStopping = false;
  const ask = async (n: number) => {
    while (!isStopping) {
      const gateway = gateways[n % gateways.length] as Gateway;
      const { status } = await askModel(gateway.url, key, messageOf('Hi', { max_tokens: 1 }));
      counts[status] = (counts[status] ?? 0) + 1;
      await sleep(THINK_MS);
    }
  };
  const asking = Promise.all(Array.from({ length: ASKERS }, (_, n) => ask(n)));
  const stop = async () => {
    isStopping = true;
    await asking;
  };
  onTestFinished(stop);
  return { counts, stop };
}

async function createBusyKey(gateway: Gateway) {
  const account = await admin(gateway).createAccount({ plan: 'team' });
  const { key, id } = await admin(gateway).createKey(account, { rpm: LIMIT });
  const {
    account: accountOf,
    key: keyOf,
    accountLog,
  } = keysOfBucket(bucketOfAccount(account) ?? 0);
  return { key, records: [accountOf(account), keyOf(id)] as const, log: accountLog(id) };
}

type Server = Awaited<ReturnType<typeof startRedisServer>>;

async function expectNothingHeld(redis: Server, records: readonly [string, string]) {
  await waitUntil(
    async () => (await redis.cli('hget', records[1], 'in_flight')) === '0',
    'nothing is in flight',
  );
  expect(await redis.cli('hget', records[0], 'held')).toBe('0');
}

describe('a rate window that is changed under load', () => {
  it('to a longer one answers nobody with a fault, and holds nothing in the end', async () => {
    const redis = await startRedisServer();
    const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    const gateway = await startGateway({ config: SHORT, env });
    const { key, records, log } = await createBusyKey(gateway);
    const load = startAsking([gateway], key);
    await waitUntil(async () => (await redis.cli('exists', log)) === '1', 'a log is written');
    gateway.setConfig(LONG);
    gateway.signal('SIGHUP');
    await gateway.waitForLog(/"msg":"reloaded"/);
    // It goes by itself if the reload met a full window, else each admission lengthens its life.
    await redis.cli('del', log);
    const admittedThen = load.counts[200] ?? 0;
    await waitUntil(() => (load.counts[200] ?? 0) > admittedThen + 2 * LIMIT, 'two windows passed');
    await load.stop();
    expect(Object.keys(load.counts)).toEqual(['200', '429']);
    await expectNothingHeld(redis, records);
  });

  it('node by node answers nobody with a fault, and holds nothing in the end', async () => {
    const redis = await startRedisServer();
    const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    const nodes = [
      await startGateway({ config: SHORT, env }),
      await startGateway({ config: LONG, env }),
    ] as const;
    const { key, records, log } = await createBusyKey(nodes[0]);
    for (const asked of [nodes, [nodes[1]], nodes, [nodes[1]]]) {
      const load = startAsking(asked, key);
      await waitUntil(() => (load.counts[200] ?? 0) > 2 * LIMIT, 'it was asked for two windows');
      await load.stop();
      expect(Object.keys(load.counts).filter((status) => !['200', '429'].includes(status))).toEqual(
        [],
      );
      if (asked === nodes) {
        await waitUntil(async () => (await redis.cli('exists', log)) === '0', 'the log is gone');
      }
    }
    await expectNothingHeld(redis, records);
  });
});
