import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decodeEvent, type LimitEvent } from '../../src/events/limit-event.ts';
import { createEventCollector } from '../../src/events/list/event-collector.ts';
import { addEvents, listEvents } from '../../src/events/list/event-list.ts';
import { startWebhooks, type WebhookSettings } from '../../src/events/webhooks/start-webhooks.ts';
import type { DeliveryOutcome } from '../../src/events/webhooks/webhook-delivery.ts';
import { readWebhookState } from '../../src/events/webhooks/webhook-store.ts';
import { Secret } from '../../src/lib/secret.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { EVENT_KEYS } from '../../src/redis/redis-keys.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  answerStatus,
  startReceiver,
  type WebhookReceiver,
} from '../support/webhooks/start-receiver.ts';

const START_MS = Date.UTC(2026, 10, 15, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BUCKET = 3;
const NAME = 'billing';
/** What `add-events.lua` keeps of the list and of the ids that it knows. */
const LIST_MAX = 50_000;
const KNOWN_MAX = 60_000;
const PAGE = 500;
/** Few enough for a busy machine to answer before the connection is given up. */
const PAGES_AT_ONCE = 10;

const { list, known } = EVENT_KEYS;
const FILL = `for number = ARGV[1], ARGV[2] do
  redis.call('XADD', KEYS[1], number .. '-0', 'event', '${textOf(0, START_MS)}')
  redis.call('ZADD', KEYS[2], number, number)
end`;

const cleanUp = useCleanUp();
let connection: TestConnection;
let receiver: WebhookReceiver;

beforeAll(async () => {
  const { port } = await startRedisServer();
  connection = openConnection(standalone(tcp(port)));
  await waitForRedis(connection);
  receiver = await startReceiver(cleanUp);
});
beforeEach(() => connection.send('flushall', []));
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

/** An event of its own for each number, as a script tells it. */
function textOf(number: number, atMs: number, kind: 'w' | 'l' = 'w'): string {
  const what = kind === 'w' ? 'w|key|03key|t|60000|100' : 'l|account|acct_03a|c||5';
  return `${what}|80|0|acct_03a|03key|${number}|${atMs}`;
}

const rawOf = (text: string) => ({ text, event: decodeEvent(text) as LimitEvent });

/** A node's part in webhooks, with a clock of its own. */
function tell(nowMs: () => number, events: readonly string[]) {
  const settings: WebhookSettings = {
    hosts: ['127.0.0.1'],
    privateNetworks: [{ address: '127.0.0.0', bits: 8, family: 4 }],
    endpoints: [{ name: NAME, url: receiver.url, secrets: [new Secret('whsec_AQEB')], events }],
  };
  const outcomes: Record<DeliveryOutcome, number> = {
    delivered: 0,
    failed: 0,
    dropped: 0,
    lost: 0,
  };
  const log = createMemoryLog();
  const webhooks = startWebhooks({
    ...{ connection, nodeId: 'a-node', settings: () => settings, userAgent: 'tollgate', log },
    resolve: () => Promise.reject(new Error('there are no names')),
    onOutcome: (outcome, count) => {
      outcomes[outcome] += count;
    },
    clock: { nowMs },
    random: () => 0,
  });
  return { outcomes, log, stop: webhooks.stop };
}

const cursorOf = async () => connection.send('hget', [EVENT_KEYS.webhook(NAME), 'cursor']);
const receivedIds = () => receiver.received.map(({ headers }) => headers['webhook-id']);

describe('a webhook', () => {
  it('is told of an event for a day, and then of the next one, and everybody can see it', async () => {
    const [old, next] = [rawOf(textOf(1, START_MS)), rawOf(textOf(2, START_MS + HOUR_MS))];
    let nowMs = START_MS;
    receiver.answer(answerStatus(503));
    const { outcomes, log, stop } = tell(() => nowMs, ['limit.warning']);
    await waitUntil(async () => (await cursorOf()) === '0', 'the webhook has its place');
    await addEvents(connection, [old, next]);
    await waitUntil(() => outcomes.failed > 0, 'the first attempt has failed');
    nowMs = START_MS + DAY_MS;
    const failed = outcomes.failed;
    await waitUntil(() => outcomes.failed > failed, 'it is tried when it is a day old');
    expect(new Set(receivedIds())).toEqual(new Set([old.event.id]));
    expect(outcomes.dropped).toBe(0);

    receiver.answer(answerStatus(204));
    // The next one is exactly a day old now.
    nowMs += HOUR_MS;
    await waitUntil(() => outcomes.delivered > 0, 'the next one is told');
    await stop();
    expect(outcomes).toMatchObject({ dropped: 1, delivered: 1, lost: 0 });
    expect(receivedIds().at(-1)).toBe(next.event.id);
    expect(await readWebhookState(connection, NAME)).toMatchObject({
      ...{ waiting: 0, dropped: 1, failing: undefined },
    });
    expect(log.lines).toContainEqual({
      level: 'error',
      message: 'events were given up after a day',
      fields: { webhook: NAME, dropped: 1 },
    });
  });

  it('that was away while more came than the list keeps is told of the rest, and of how many are lost', async () => {
    receiver.answer(answerStatus(204));
    const seen = receiver.received.length;
    const first = tell(() => START_MS, ['balance.low']);
    await waitUntil(async () => (await cursorOf()) === '0', 'the webhook has its place');
    await first.stop();

    // As if they had been added one after the other.
    const count = KNOWN_MAX + PAGE;
    for (let first = 1; first < count - PAGE; first += PAGES_AT_ONCE * PAGE) {
      const last = Math.min(first + PAGES_AT_ONCE * PAGE - 1, count - PAGE);
      await connection.send('eval', [FILL, '2', list, known, `${first}`, `${last}`]);
    }
    const page = Array.from({ length: PAGE }, (_, n) => rawOf(textOf(n, START_MS)));
    await addEvents(connection, page);
    const last = rawOf(textOf(count + 1, START_MS, 'l'));
    expect(await addEvents(connection, [last])).toMatchObject([{ number: count + 1 }]);
    expect(await addEvents(connection, [last])).toEqual([]);
    const kept = Number(await connection.send('xlen', [list]));
    expect(kept).toBeGreaterThanOrEqual(LIST_MAX);
    expect(kept).toBeLessThan(LIST_MAX + PAGE);
    expect(Number(await connection.send('zcard', [known]))).toBe(KNOWN_MAX);

    const second = tell(() => START_MS, ['balance.low']);
    await waitUntil(() => second.outcomes.delivered > 0, 'the last one is told');
    await second.stop();
    const lost = count + 1 - kept;
    expect(second.outcomes).toEqual({ delivered: 1, failed: 0, dropped: 0, lost });
    expect(receivedIds().slice(seen)).toEqual([last.event.id]);
    expect(await readWebhookState(connection, NAME)).toMatchObject({ waiting: 0, dropped: lost });
    expect(second.log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', fields: { webhook: NAME, lost } }),
    );
    // Who asks for an account whose events are gone gets none, and no error.
    const none = await listEvents(connection, { accountId: 'acct_03b', limit: 5 });
    expect(none).toEqual({ events: [], next: undefined });
  });
});

describe('a bucket', () => {
  const { events, eventsTaken } = keysOfBucket(BUCKET);

  it('whose events were pushed out before the list had them says how many, once', async () => {
    const lost: number[] = [];
    const heard: LimitEvent[] = [];
    const log = createMemoryLog();
    const collector = createEventCollector({
      ...{ connection, log },
      onEvent: (event) => heard.push(event),
      onLost: (count) => lost.push(count),
    });
    const add = (number: number) =>
      connection.send('xadd', [events, '*', 'event', textOf(number, START_MS)]);
    await add(1);
    await connection.send('hset', [eventsTaken, 'lost', '7']);
    collector.collect(BUCKET);
    await waitUntil(() => lost.length > 0, 'the loss is told');
    await add(2);
    collector.collect(BUCKET);
    await waitUntil(() => heard.length === 2, 'the next one is told');
    await collector.stop();
    expect(lost).toEqual([7]);
    expect(log.lines).toEqual([
      expect.objectContaining({ level: 'error', fields: { bucket: BUCKET, lost: 7 } }),
    ]);
    // The list has what is still there; only what comes behind it can be lost.
    const [newest] = (await connection.send('xrevrange', [events, '+', '-', 'COUNT', '1'])) as [
      [string],
    ];
    expect(await connection.send('hget', [eventsTaken, 'place'])).toBe(newest[0]);
  });
});
