import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/lib/time/clock.ts';
import { type SettleReply, settle } from '../../src/quota/scripts/settle.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import { createSettleQueue, type SettleQueue } from '../../src/quota/settling/settle-queue.ts';
import { createSettlementReplay } from '../../src/quota/settling/settlement-replay.ts';
import { RedisUnavailable } from '../../src/redis/redis-unavailable.ts';
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
  readLedger,
  systemClock,
} from './settle-scene.ts';

const REPEATED: SettleReply = { kind: 'repeated', chargedMicros: 1 };
const REPLAYED = 'settlements were sent again after a change of master';

const queues: SettleQueue[] = [];

afterEach(async () => {
  for (const queue of queues.splice(0)) queue.stop();
  await closeConnections();
  await stopRedisServers();
});

function startQueue(
  settleOnce: (settlement: Settlement) => Promise<SettleReply>,
  clock: Clock = systemClock,
) {
  const log = createMemoryLog();
  const settled: Settlement[] = [];
  const queue = createSettleQueue({
    settle: settleOnce,
    handOver: () => Promise.reject(new Error('no primary')),
    onSettled: (_reply, settlement) => settled.push(settlement),
    onDropped: () => {},
    clock,
    random: Math.random,
    log,
  });
  queues.push(queue);
  const replays = () =>
    log.lines.filter(({ message }) => message === REPLAYED).map(({ fields }) => fields);
  return { queue, settled, replays };
}

describe('replaying acknowledged settlements', () => {
  async function settleOnServer(clock: Clock = systemClock) {
    const server = await startRedisServer();
    const connection = openConnection(standalone(tcp(server.port)));
    await waitForRedis(connection);
    const payer = makePayer(200);
    await createPayer(connection, payer);
    const settlements = await beginMany(connection, payer, 300);
    const { queue, settled, replays } = startQueue(
      (one) => settle(connection, one, DEFAULT_WARNINGS),
      clock,
    );
    for (const settlement of settlements) queue.add(settlement);
    await waitUntil(() => queue.depth === 0, 'all are settled');
    expect(await findWrongCharges(connection, payer, settlements)).toEqual([]);
    return { connection, payer, settlements, queue, settled, replays };
  }

  it('restores what a new master lacks, each request once', async () => {
    const { connection, payer, settlements, queue, replays } = await settleOnServer();
    await connection.send('flushall', []);
    await createPayer(connection, payer);
    expect(await readLedger(connection, payer.bucket)).toEqual([]);
    queue.replay();
    await waitUntil(() => replays().length === 1, 'the replay has ended');
    expect(replays()).toEqual([{ replayed: 300, restored: 300 }]);
    expect(await findWrongCharges(connection, payer, settlements)).toEqual([]);
  });

  it('restores it after an outage of minutes, in which nobody took over', async () => {
    let aheadMs = 0;
    const clock = { nowMs: () => Date.now() + aheadMs };
    const { connection, payer, settlements, queue, replays } = await settleOnServer(clock);
    queue.noteSame(59_000);
    aheadMs += 20 * 60_000;
    await connection.send('flushall', []);
    await createPayer(connection, payer);
    queue.replay();
    await waitUntil(() => replays().length === 1, 'the replay has ended');
    expect(replays()).toEqual([{ replayed: 300, restored: 300 }]);
    expect(await findWrongCharges(connection, payer, settlements)).toEqual([]);
  });

  it('restores it again when the next master lacks what was restored', async () => {
    const { connection, payer, settlements, queue, replays } = await settleOnServer();
    for (const round of [1, 2]) {
      queue.noteSame(40_000);
      await connection.send('flushall', []);
      await createPayer(connection, payer);
      queue.replay();
      await waitUntil(() => replays().length === round, 'the replay has ended');
      expect(await findWrongCharges(connection, payer, settlements)).toEqual([]);
    }
  });

  it('changes nothing on a server that has everything', async () => {
    const { connection, payer, settlements, queue, settled, replays } = await settleOnServer();
    const before = await readLedger(connection, payer.bucket);
    queue.replay();
    await waitUntil(() => replays().length === 1, 'the replay has ended');
    expect(replays()).toEqual([{ replayed: 300, restored: 0 }]);
    expect(await readLedger(connection, payer.bucket)).toEqual(before);
    expect(await findWrongCharges(connection, payer, settlements)).toEqual([]);
    // The queue does not report a settlement twice.
    expect(settled).toHaveLength(300);
  });

  it('goes on through an outage until each was sent', async () => {
    let isOut = false;
    const answered: Settlement[] = [];
    const { queue, replays } = startQueue(async (settlement) => {
      if (isOut) throw new RedisUnavailable();
      answered.push(settlement);
      return REPEATED;
    });
    const settlements = makeSettlements(200);
    for (const settlement of settlements) queue.add(settlement);
    await waitUntil(() => queue.depth === 0, 'all are settled');
    answered.length = 0;
    isOut = true;
    queue.replay();
    await waitUntil(() => queue.depth === 64, 'the first ones are on their way');
    isOut = false;
    await waitUntil(() => replays().length === 1, 'the replay has ended');
    expect(idsOf(answered).sort()).toEqual(idsOf(settlements).sort());
  });

  it('sends at most 64 at once, and once more when it was asked for meanwhile', async () => {
    let answers: (() => void)[] = [];
    let isHeld = false;
    const { queue, replays } = startQueue(
      () =>
        new Promise((resolve) => {
          if (isHeld) answers.push(() => resolve(REPEATED));
          else resolve(REPEATED);
        }),
    );
    for (const settlement of makeSettlements(100)) queue.add(settlement);
    await waitUntil(() => queue.depth === 0, 'all are settled');
    isHeld = true;
    queue.replay();
    queue.replay();
    queue.replay();
    expect(answers).toHaveLength(64);
    let sent = 0;
    while (sent < 200) {
      await waitUntil(() => answers.length > 0, 'more are sent');
      expect(answers.length).toBeLessThanOrEqual(64);
      const now = answers;
      answers = [];
      sent += now.length;
      for (const answer of now) answer();
      if (sent === 100) await waitUntil(() => answers.length === 64, 'it begins once more');
    }
    await waitUntil(() => replays().length === 2, 'both have ended');
    expect(sent).toBe(200);
    expect(queue.depth).toBe(0);
  });

  /**
   * Returns what the queue sends again of two settlements. `then` runs after the first and after
   * the second.
   */
  async function replayAfter(then: (queue: SettleQueue, wait: (ms: number) => void) => void) {
    let nowMs = 1_000_000;
    const wait = (ms: number) => {
      nowMs += ms;
    };
    const sent: Settlement[] = [];
    const { queue } = startQueue(
      async (settlement) => {
        sent.push(settlement);
        return REPEATED;
      },
      { nowMs: () => nowMs },
    );
    const add = async (settlement: Settlement) => {
      queue.add(settlement);
      await waitUntil(() => queue.depth === 0, 'it is settled');
    };
    const [first, second] = [makeSettlement(makePayer(1)), makeSettlement(makePayer(1))];
    for (const settlement of [first, second]) {
      await add(settlement);
      then(queue, wait);
    }
    sent.length = 0;
    queue.replay();
    await waitUntil(() => queue.depth === 0, 'the replay has ended');
    const ids = idsOf(sent);
    return [first, second].map(({ requestId }) => ids.includes(requestId));
  }

  it('leaves out what was acknowledged more than a minute before the masters were last seen', async () => {
    expect(await replayAfter((queue) => queue.noteSame(30_000))).toEqual([true, true]);
    expect(await replayAfter((queue) => queue.noteSame(30_001))).toEqual([false, true]);
    expect(await replayAfter((queue) => queue.noteSame(60_001))).toEqual([false, false]);
  });

  it('leaves out what an outage of more than half an hour came after', async () => {
    const halfMs = 31 * 30_000;
    expect(await replayAfter((_queue, wait) => wait(halfMs))).toEqual([true, true]);
    expect(await replayAfter((_queue, wait) => wait(halfMs + 1))).toEqual([false, false]);
    const seenBetween = await replayAfter((queue, wait) => {
      queue.noteSame(1_000);
      wait(2 * halfMs - 1_000);
    });
    expect(seenBetween).toEqual([false, true]);
  });

  it('remembers 200,000 and no more', () => {
    const clock = { nowMs: () => 0 };
    const replay = createSettlementReplay({ onMore: () => {}, clock, log: createMemoryLog() });
    const one = makeSettlement(makePayer(1));
    for (let i = 0; i < 200_005; i++) replay.remember({ ...one, actualMicros: i });
    replay.start();
    expect(replay.take()?.actualMicros).toBe(5);
    let left = 0;
    while (replay.take() !== undefined) left += 1;
    expect(left).toBe(199_999);
  });
});
