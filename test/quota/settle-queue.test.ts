import { afterEach, describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/lib/time/deferred.ts';
import { type SettleReply, settle } from '../../src/quota/scripts/settle.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import { createSettleQueue, type SettleQueue } from '../../src/quota/settling/settle-queue.ts';
import { RedisUnavailable } from '../../src/redis/redis-unavailable.ts';
import { startRelay } from '../redis/start-relay.ts';
import { DEFAULT_WARNINGS } from '../support/limits/default-warnings.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  beginMany,
  createPayer,
  findWrongCharges,
  idsOf,
  makePayer,
  makeSettlement,
  makeSettlements,
  systemClock,
} from './settle-scene.ts';

const CHARGED: SettleReply = { kind: 'charge', chargedMicros: 1, shortMicros: 0, balanceMicros: 0 };

const queues: SettleQueue[] = [];

afterEach(async () => {
  for (const queue of queues.splice(0)) queue.stop();
  await closeConnections();
  await stopRedisServers();
});

type Options = Partial<Parameters<typeof createSettleQueue>[0]>;

function startQueue(options: Options) {
  const log = createMemoryLog();
  const settled: Settlement[] = [];
  const dropped: Settlement[] = [];
  const queue = createSettleQueue({
    settle: () => Promise.resolve(CHARGED),
    handOver: () => Promise.reject(new Error('no primary')),
    onSettled: (_reply, settlement) => settled.push(settlement),
    onDropped: (settlement) => dropped.push(settlement),
    clock: systemClock,
    random: Math.random,
    log,
    ...options,
  });
  queues.push(queue);
  return { queue, log, settled, dropped };
}

/** A primary that takes what is handed over. */
function takeOver() {
  const handedOver: Settlement[] = [];
  const handOver = async (batch: readonly Settlement[]) => {
    handedOver.push(...batch);
  };
  return { handedOver, handOver };
}

const neverAnswers = () => new Promise<never>(() => {});
const isOut = () => Promise.reject(new RedisUnavailable());

describe('the settle queue on a real server', () => {
  it('charges each request once although replies get lost', async () => {
    const server = await startRedisServer();
    const relay = await startRelay(server.port);
    const direct = openConnection(standalone(tcp(server.port)));
    const connection = openConnection(standalone(tcp(relay.port)));
    await Promise.all([waitForRedis(direct), waitForRedis(connection)]);
    const payer = makePayer(3);
    await createPayer(direct, payer);
    const settlements = await beginMany(direct, payer, 500);
    relay.loseReplies({ every: 3, count: 5 });

    const kinds: string[] = [];
    const { queue } = startQueue({
      settle: (settlement) => settle(connection, settlement, DEFAULT_WARNINGS),
      onSettled: ({ kind }) => kinds.push(kind),
    });
    for (const settlement of settlements) queue.add(settlement);
    await waitUntil(() => queue.depth === 0, 'all are settled');

    expect(await findWrongCharges(direct, payer, settlements)).toEqual([]);
    expect(kinds).toHaveLength(500);
    // Each settlement reached Redis in a call whose reply was lost.
    expect(kinds).toContain('repeated');
    expect(relay.lostReplies).toBe(5);
  });
});

describe('the settle queue', () => {
  it('sends up to 64 at once and lets the others wait', async () => {
    const answers: ((reply: SettleReply) => void)[] = [];
    const { queue, settled } = startQueue({
      settle: () => new Promise((resolve) => answers.push(resolve)),
    });
    for (const settlement of makeSettlements(100)) queue.add(settlement);
    expect(answers).toHaveLength(64);
    expect(queue.depth).toBe(100);
    for (const answer of answers) answer(CHARGED);
    await waitUntil(() => answers.length === 100, 'the others follow');
    for (const answer of answers) answer(CHARGED);
    await waitUntil(() => queue.depth === 0, 'all are answered');
    expect(settled).toHaveLength(100);
  });

  it('hands over what Redis does not take, and then leaves it to the primary', async () => {
    const { handedOver, handOver } = takeOver();
    let isBack = false;
    const settle = () => (isBack ? Promise.resolve(CHARGED) : isOut());
    const { queue, settled } = startQueue({ settle, handOver });
    const settlements = makeSettlements(200);
    for (const settlement of settlements) queue.add(settlement);
    expect(handedOver).toEqual([]);
    await waitUntil(() => queue.depth === 0, 'all are handed over');
    expect(idsOf(handedOver).sort()).toEqual(idsOf(settlements).sort());
    isBack = true;
    const later = makeSettlement(makePayer(7));
    queue.add(later);
    await waitUntil(() => settled.length > 0 && queue.depth === 0, 'a later one is settled');
    expect(idsOf(settled)).toEqual([later.requestId]);
  });

  it('keeps what the primary does not take either, and settles it when Redis is back', async () => {
    let isBack = false;
    let handOvers = 0;
    const { queue, settled, log } = startQueue({
      settle: () => (isBack ? Promise.resolve(CHARGED) : isOut()),
      handOver() {
        handOvers += 1;
        return Promise.reject(new Error('no primary'));
      },
    });
    const settlements = makeSettlements(100);
    for (const settlement of settlements) queue.add(settlement);
    await waitUntil(() => handOvers >= 2, 'the primary was asked twice');
    expect(queue.depth).toBe(100);
    expect(log.lines[0]?.message).toBe('the primary does not take settlements');
    isBack = true;
    await waitUntil(() => queue.depth === 0, 'all are settled');
    expect(idsOf(settled).sort()).toEqual(idsOf(settlements).sort());
  });

  it('hands over again in time although the clock is set back meanwhile', async () => {
    const handedOver: Settlement[] = [];
    let [offsetMs, calls] = [0, 0];
    const { queue } = startQueue({
      settle: neverAnswers,
      clock: { nowMs: () => Date.now() + offsetMs },
      async handOver(batch) {
        calls++;
        if (calls === 1) throw new Error('there is no primary');
        handedOver.push(...batch);
      },
    });
    const settlements = makeSettlements(3);
    for (const settlement of settlements) queue.add(settlement);
    await waitUntil(() => calls === 1, 'the primary refuses');
    offsetMs = -3_600_000;
    await waitUntil(() => queue.depth === 0, 'all are handed over');
    expect(idsOf(handedOver)).toEqual(idsOf(settlements));
  });

  it('hands over the oldest at once when there are more than 50,000', async () => {
    const { handedOver, handOver } = takeOver();
    // Nothing ever grows old.
    const clock = { nowMs: () => 0 };
    const { queue } = startQueue({ settle: neverAnswers, handOver, clock });
    const settlements = makeSettlements(50_010);
    for (const settlement of settlements) queue.add(settlement);
    await waitUntil(() => queue.depth === 50_000, 'the excess is handed over');
    expect(idsOf(handedOver)).toEqual(idsOf(settlements.slice(0, 10)));
  });

  it('writes to the log, whole, what has no place anywhere, and tells of it', () => {
    const { queue, log, dropped } = startQueue({ settle: neverAnswers, clock: { nowMs: () => 0 } });
    const one = makeSettlement(makePayer(7));
    for (let i = 0; i < 100_000; i++) queue.add({ ...one });
    expect([log.lines, dropped]).toEqual([[], []]);
    queue.add({ ...one, requestId: 'req_last' });
    expect(idsOf(dropped)).toEqual(['req_last']);
    expect(queue.depth).toBe(100_000);
    expect(log.lines[0]?.fields['settlement']).toMatchObject({ requestId: 'req_last' });
  });

  it.each([
    ['fails for another reason', () => Promise.reject(new Error('WRONGTYPE'))],
    ['is too old', () => Promise.resolve<SettleReply>({ kind: 'too_old' })],
  ])('hands over what %s, for the file of what is unsettled', async (_, settle) => {
    const handedOver: Settlement[] = [];
    const taken = createDeferred();
    const { queue, settled, dropped } = startQueue({
      settle,
      handOver(batch) {
        handedOver.push(...batch);
        return taken.promise;
      },
      clock: { nowMs: () => 0 },
    });
    queue.add(makeSettlement(makePayer(7)));
    await waitUntil(() => handedOver.length > 0, 'it is handed over');
    expect(await queue.drain(0)).toBe(1);
    taken.resolve();
    expect(await queue.drain(60_000)).toBe(0);
    expect([settled, dropped]).toEqual([[], []]);
    expect(handedOver).toHaveLength(1);
  });

  it('logs what fails for another reason when nobody takes it, with all that is needed to enter it by hand', async () => {
    const { queue, log, settled, dropped } = startQueue({
      settle: ({ actualMicros }) =>
        actualMicros === 13 ? Promise.reject(new Error('WRONGTYPE')) : Promise.resolve(CHARGED),
    });
    const payer = makePayer(7);
    const lastKnownMs = Date.UTC(2026, 10, 21);
    const broken = makeSettlement(payer, { actualMicros: 13, lastKnownMs });
    queue.add(broken);
    queue.add(makeSettlement(payer));
    await waitUntil(() => queue.depth === 0, 'both have ended');
    expect(settled).toHaveLength(1);
    expect(idsOf(dropped)).toEqual(idsOf([broken]));
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toMatchObject({
      level: 'error',
      fields: {
        settlement: {
          ...payer,
          requestId: broken.requestId,
          month: '202611',
          model: 'llm-a',
          actualMicros: 13,
          lastKnownAt: '2026-11-21T00:00:00.000Z',
          usage: { input: 1, output: 5 },
          isEstimated: false,
        },
      },
    });
  });

  it('logs what is too old to be settled in the same way', async () => {
    const { queue, log } = startQueue({ settle: () => Promise.resolve({ kind: 'too_old' }) });
    const old = makeSettlement(makePayer(7));
    queue.add(old);
    await waitUntil(() => queue.depth === 0, 'it has ended');
    expect(log.lines[0]).toMatchObject({
      level: 'error',
      fields: { settlement: { requestId: old.requestId, actualMicros: 700 } },
    });
  });
});

describe('draining the settle queue', () => {
  it('ends when all are settled, with nothing left', async () => {
    const { queue, settled } = startQueue({});
    for (const settlement of makeSettlements(300)) queue.add(settlement);
    expect(await queue.drain(60_000)).toBe(0);
    expect(settled).toHaveLength(300);
    expect(await queue.drain(60_000)).toBe(0);
  });

  it('hands over also what is on its way to a Redis that does not answer', async () => {
    const { handedOver, handOver } = takeOver();
    const { queue } = startQueue({ settle: neverAnswers, handOver });
    const settlements = makeSettlements(100);
    for (const settlement of settlements) queue.add(settlement);
    expect(await queue.drain(30_000)).toBe(0);
    expect(idsOf(handedOver)).toEqual(idsOf(settlements));
  });

  it('waits for nothing to grow old when there is no time', async () => {
    const { handedOver, handOver } = takeOver();
    const clock = { nowMs: () => 0 };
    const { queue, dropped } = startQueue({ settle: neverAnswers, handOver, clock });
    const settlements = makeSettlements(10);
    for (const settlement of settlements) queue.add(settlement);
    await queue.drain(0);
    await waitUntil(() => queue.depth === 0, 'all are handed over');
    expect(idsOf(handedOver)).toEqual(idsOf(settlements));
    expect(dropped).toEqual([]);
  });

  it('says how many are left when nobody takes them in time', async () => {
    const { queue } = startQueue({ settle: neverAnswers, handOver: neverAnswers });
    for (const settlement of makeSettlements(70)) queue.add(settlement);
    expect(await queue.drain(100)).toBe(70);
  });
});
