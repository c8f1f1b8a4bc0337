import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { type Answered, askModel, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { expectAdmitted } from '../../support/clients/expect-admitted.ts';
import { BEFORE_LISTS, unpackRelease } from '../../support/releases/unpack-release.ts';
import {
  type Gateway,
  type GatewayOptions,
  launchGateway,
  startGateway,
} from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

const CREDITS = 1_000;
const RPM = 40;
const REQUESTS = 200;
/** What was noted of its cost, in the record of a hold. */
const SEEN_PLACE = 5;
const CHARGED = 'x-tollgate-credits-charged';
const PLAN_LISTS = `${FAST_CONFIG}plans: {team: 1000000, hobby: {requests: 9, limits: [{unit: tokens, window: 1m, amount: 9}]}}\n`;

async function startBoth() {
  const redis = await startRedisServer({
    args: ['--appendonly', 'yes', '--appendfsync', 'always'],
  });
  const options: GatewayOptions = {
    config: FAST_CONFIG,
    env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
  };
  const program = join(unpackRelease(BEFORE_LISTS), 'src/main.js');
  const older = await startGateway({ ...options, program });
  return { redis, options, older, newer: await startGateway(options) };
}

const hello = (more: object = {}) => messageOf('Hi', { max_tokens: 4, ...more });

/** Sends one half of the requests to each node, at once. */
function askBoth(nodes: readonly Gateway[], key: string): Promise<Answered[]> {
  return Promise.all(
    Array.from({ length: REQUESTS }, (_, index) =>
      askModel(nodes[index % nodes.length]?.url ?? '', key, hello()),
    ),
  );
}

const charged = (answers: readonly Answered[]) =>
  answers.reduce((sum, { headers }) => sum + Number(headers.get(CHARGED) ?? 0), 0);
/** Without those that Redis answered too late on a busy machine, which are free. */
const statusesOf = (answers: readonly Answered[]) =>
  new Set(answers.map(({ status }) => status).filter((status) => status !== 503));

async function end(node: Gateway): Promise<void> {
  node.signal('SIGTERM');
  await node.waitForExit();
}

/** A worker that loses its primary goes on with its streams. */
async function kill(node: Gateway): Promise<void> {
  const pids = node.workerPids();
  node.signal('SIGKILL');
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await node.waitForExit();
}

describe('a node of the release before, and one of this release, on one Redis', () => {
  it('keep limits, caps and money exact through a rolling restart, and take no lists until it is over', async () => {
    const { older, newer, options } = await startBoth();
    const both = [older, newer];
    const [before, now] = [admin(older), admin(newer)];
    const account = await before.createAccount({ credits: CREDITS });
    const slow = await before.createKey(account, { rpm: RPM });
    const capped = await now.createKey(account, { monthly_cap: 0.002 });
    const limits = [{ unit: 'tokens', window: '1h', amount: 1_000_000 }];

    // Each reads what the other has written: the accounts, the keys and their windows.
    const answers = await askBoth(both, slow.key);
    expectAdmitted(answers, RPM);
    const byCap = await askBoth(both, capped.key);
    expect(statusesOf(byCap)).toEqual(new Set([200, 402]));
    expect(await now.key(slow.id)).toMatchObject({ rpm: RPM, limits: [], group: null });
    for (const refused of [
      now.createKey(account, { limits }),
      now.call('PATCH', `/accounts/${account}`, { limits }),
      now.call('POST', `/accounts/${account}/groups`, { name: 'research', limits }),
    ]) {
      await expect(refused).rejects.toThrow(/409 .*of a version that knows no lists of limits/);
    }
    await now.waitUntilSettled(account);
    expect((await before.key(capped.id)).spent_this_month).toBeLessThanOrEqual(0.002);
    let spent = charged([...answers, ...byCap]);
    const hasSpent = async (told: ReturnType<typeof admin>) =>
      expect(CREDITS - (await told.account(account)).balance).toBeCloseTo(spent, 6);
    await Promise.all([hasSpent(before), hasSpent(now)]);

    // Nor does a node whose plans have lists start, or take them while it runs.
    const early = await launchGateway({ ...options, config: PLAN_LISTS });
    expect(await early.waitForExit()).toBe(1);
    expect(early.stdout() + early.stderr()).toContain('start all nodes with this version first');
    newer.setConfig(PLAN_LISTS);
    await expect(now.call('POST', '/reload')).rejects.toThrow('limits of a plan need every node');

    await end(older);
    const renewed = await startGateway({
      ...options,
      ...{ port: older.port, dataDir: older.dataDir, config: PLAN_LISTS },
    });
    await now.call('POST', '/reload');
    const listed = await now.createKey(account, { limits: [{ ...limits[0], amount: 300 }] });
    const byList = await askBoth([renewed, newer], listed.key);
    expect(statusesOf(byList)).toEqual(new Set([200, 429]));
    await now.waitUntilSettled(account);
    spent += charged(byList);
    await hasSpent(now);
    expect((await now.key(slow.id)).spent_this_month).toBeCloseTo(charged(answers), 6);
  });

  it('end what the other has begun when it dies', async () => {
    const { redis, older, newer, options } = await startBoth();
    const account = await admin(older).createAccount({ credits: CREDITS });
    const { id, key } = await admin(older).createKey(account);
    const long = messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 });
    const held = async (node: Gateway) => (await admin(node).account(account)).held;
    const balance = async (node: Gateway) => (await admin(node).account(account)).balance;
    /** Begins a stream on a node that dies in the middle of it, and has the other one charge it. */
    const dieInStream = async (dying: Gateway, other: Gateway) => {
      const before = await balance(other);
      const { requestId } = await openStream(dying.url, key, long);
      // The older node keeps the books.
      const isNoted = async () => {
        const path = `/requests/${requestId}`;
        return ((await admin(older).call<{ seen?: number }>('GET', path)).seen ?? 0) > 0;
      };
      await waitUntil(isNoted, 'its cost is noted');
      await kill(dying);
      expect(await held(other)).toBeGreaterThan(0);
      // Otherwise the lease would run for another minute.
      const [renewals = ''] = (await redis.cli('--scan', '--pattern', '*renewals')).split('\n');
      const hold = await redis.cli('HGET', renewals.replace('renewals', 'holds'), `${requestId}`);
      await redis.cli('ZADD', renewals, '0', `${requestId}`);
      await admin(other).waitUntilSettled(account);
      const seenMicros = Number(hold.split('|')[SEEN_PLACE]);
      expect(seenMicros).toBeGreaterThan(0);
      expect(before - (await balance(other))).toBeCloseTo(seenMicros / 1e6, 9);
    };

    await dieInStream(newer, older);
    const again = await startGateway({ ...options, dataDir: newer.dataDir });
    await dieInStream(older, again);
    const spent = (await admin(again).key(id)).spent_this_month;
    expect(spent).toBeCloseTo(CREDITS - (await balance(again)), 6);
  });
});
