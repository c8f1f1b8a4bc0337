import { afterEach, describe, expect, it } from 'vitest';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { renew } from '../../../src/quota/scripts/renew.ts';
import { type SweepReply, sweep } from '../../../src/quota/scripts/sweep.ts';
import { type Sweeper, startSweeper } from '../../../src/quota/sweeping/sweep-buckets.ts';
import { RedisUnavailable } from '../../../src/redis/redis-unavailable.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { closeConnections } from '../../support/servers/redis-connection.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  BALANCE_MICROS,
  begin,
  createPayer,
  HELD_MICROS,
  makePayer,
  readBalance,
  readLedger,
} from '../settle-scene.ts';
import { openServer } from './open-server.ts';

const NOTHING: SweepReply = { swept: 0, chargedMicros: 0, isFull: false, hasEvents: false };
const BUCKETS = 256;

const sweepers: Sweeper[] = [];

afterEach(async () => {
  await Promise.all(sweepers.splice(0).map((sweeper) => sweeper.stop()));
  await closeConnections();
  await stopRedisServers();
});

function start(
  sweepOne: (bucket: number, countMax: number) => Promise<SweepReply>,
  findBusy = async (buckets: readonly number[]) => buckets,
) {
  const log = createMemoryLog();
  const swept: SweepReply[] = [];
  const sweeper = startSweeper({
    learnShare: async () => ({ index: 0, count: 1 }),
    leave: async () => {},
    findBusy,
    sweep: sweepOne,
    random: Math.random,
    log,
    onEvents: () => {},
    onSwept: (reply) => swept.push(reply),
  });
  sweepers.push(sweeper);
  return { sweeper, log, swept };
}

describe('the sweeper on a real server', () => {
  it('ends the holds of a dead worker for what was noted last, and no others', async () => {
    const connection = await openServer();
    const payer = makePayer(255);
    await createPayer(connection, payer);
    const silent = await begin(connection, payer, { leaseMs: 1 });
    const seen = await begin(connection, payer, { leaseMs: 60_000 });
    const alive = await begin(connection, payer, { leaseMs: 60_000 });
    const hold = { ...seen, heldMicros: HELD_MICROS, lastKnownMs: Date.now() };
    await renew(connection, hold, { seenMicros: 300, leaseMs: 1 }, DEFAULT_WARNINGS);

    const { swept } = start((bucket, countMax) =>
      sweep(connection, bucket, countMax, DEFAULT_WARNINGS),
    );
    const isSwept = async () => (await readLedger(connection, 255)).length === 2;
    await waitUntil(isSwept, 'both are swept');
    expect(await readBalance(connection, payer)).toEqual({
      balance: BALANCE_MICROS - 300,
      held: HELD_MICROS,
    });
    const lines = await readLedger(connection, 255);
    expect(new Map(lines.map(({ request, charged }) => [request, charged]))).toEqual(
      new Map([
        [silent.requestId, 0],
        [seen.requestId, 300],
      ]),
    );
    expect(await connection.send('hkeys', [keysOfBucket(255).holds])).toEqual([alive.requestId]);
    expect(swept.reduce((sum, reply) => sum + reply.chargedMicros, 0)).toBe(300);
  });

  it('ends more than a hundred of one bucket in the same round', async () => {
    const connection = await openServer();
    const payer = makePayer(0);
    await createPayer(connection, payer);
    await Promise.all(Array.from({ length: 250 }, () => begin(connection, payer, { leaseMs: 1 })));
    const visits: number[] = [];
    const { sweeper, swept } = start((bucket, countMax) => {
      visits.push(bucket);
      return sweep(connection, bucket, countMax, DEFAULT_WARNINGS);
    });
    await waitUntil(() => visits.length >= BUCKETS + 2, 'a round has ended');
    await sweeper.stop();
    expect(swept.map((reply) => reply.swept)).toEqual([100, 100, 50]);
    expect(await readBalance(connection, payer)).toEqual({ balance: BALANCE_MICROS, held: 0 });
  });

  it('goes on behind any number of requests that have ended', async () => {
    const connection = await openServer();
    const payer = makePayer(0);
    await createPayer(connection, payer);
    const ended = Array.from({ length: 250 }, (_, index) => `ended ${index}`);
    await connection.send('rpush', [keysOfBucket(0).leases, ...ended]);
    await begin(connection, payer, { leaseMs: 1 });
    const visits: number[] = [];
    const { sweeper, swept } = start((bucket, countMax) => {
      visits.push(bucket);
      return sweep(connection, bucket, countMax, DEFAULT_WARNINGS);
    });
    await waitUntil(() => visits.length >= BUCKETS + 2, 'a round has ended');
    await sweeper.stop();
    expect(swept.map((reply) => reply.swept)).toEqual([1]);
  });
});

describe('the sweeper', () => {
  it('visits every bucket once a round, each time in another order, at most 8 at once', async () => {
    const visits: number[] = [];
    let inFlight = 0;
    let inFlightMost = 0;
    const { swept } = start(async (bucket) => {
      visits.push(bucket);
      inFlight += 1;
      inFlightMost = Math.max(inFlightMost, inFlight);
      await Promise.resolve();
      inFlight -= 1;
      return NOTHING;
    });
    await waitUntil(() => visits.length >= 2 * BUCKETS, 'two rounds have ended');
    const [first, second] = [visits.slice(0, BUCKETS), visits.slice(BUCKETS, 2 * BUCKETS)];
    expect(new Set(first).size).toBe(BUCKETS);
    expect(new Set(second).size).toBe(BUCKETS);
    expect(first).not.toEqual(second);
    expect(inFlightMost).toBe(8);
    expect(swept).toEqual([]);
  });

  it('ends a round that Redis does not answer, silently, and tries again', async () => {
    let calls = 0;
    let isOut = true;
    const { log } = start(() => {
      calls += 1;
      return isOut ? Promise.reject(new RedisUnavailable()) : Promise.resolve(NOTHING);
    });
    await waitUntil(() => calls > 0, 'it has begun');
    expect(calls).toBe(8);
    isOut = false;
    await waitUntil(() => calls === 8 + BUCKETS, 'the next round visits all');
    expect(log.lines).toEqual([]);
  });

  it('does not let the buckets of a node that is out keep the others waiting', async () => {
    const isOut = (bucket: number) => bucket < 6;
    let visits: number[] = [];
    const { log } = start((bucket) => {
      visits.push(bucket);
      return isOut(bucket) ? Promise.reject(new Error('WRONGTYPE')) : Promise.resolve(NOTHING);
    });
    const hasVisitedAll = () => new Set(visits.filter((bucket) => !isOut(bucket))).size === 250;
    await waitUntil(hasVisitedAll, 'all others were visited');
    // By now the sweeper knows the buckets that failed, and each later round visits all others
    // first.
    visits = [];
    await waitUntil(hasVisitedAll, 'all others were visited again');
    expect(visits.length).toBeLessThan(2 * BUCKETS);
    expect(log.lines[0]).toMatchObject({ level: 'error', fields: { bucket: expect.any(Number) } });
  });

  it('visits only buckets that may have something, and none while it does not know', async () => {
    const visits: number[] = [];
    let answers: (() => Promise<readonly number[]>)[] = [
      () => Promise.reject(new RedisUnavailable()),
      () => Promise.reject(new Error('WRONGTYPE')),
      () => Promise.resolve([7]),
    ];
    const { log } = start(
      (bucket) => {
        visits.push(bucket);
        return Promise.resolve(NOTHING);
      },
      (buckets) => {
        const [answer, ...rest] = answers;
        answers = rest;
        return answer === undefined ? Promise.resolve(buckets.slice(9, 10)) : answer();
      },
    );
    await waitUntil(() => visits.length >= 2, 'two rounds have visited a bucket');
    expect(visits).toEqual([7, 9]);
    expect(log.lines.map(({ message }) => message)).toEqual(['the buckets to sweep are not known']);
  });

  it('stops when the sweeps on their way have ended', async () => {
    const answers: (() => void)[] = [];
    const { sweeper } = start(() => new Promise((resolve) => answers.push(() => resolve(NOTHING))));
    let isStopped = false;
    await waitUntil(() => answers.length === 8, 'the first sweeps are on their way');
    const stopped = sweeper.stop().then(() => {
      isStopped = true;
    });
    for (const answer of answers.slice(1)) answer();
    await new Promise(setImmediate);
    expect(isStopped).toBe(false);
    answers[0]?.();
    await stopped;
    expect(answers).toHaveLength(8);
  });
});
