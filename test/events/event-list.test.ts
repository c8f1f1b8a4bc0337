import { describe, expect, it } from 'vitest';
import type { LimitEvent } from '../../src/events/limit-event.ts';
import { createEventCollector } from '../../src/events/list/event-collector.ts';
import { addEvents, listEvents } from '../../src/events/list/event-list.ts';
import { createWebhookStore, readWebhookState } from '../../src/events/webhooks/webhook-store.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { EVENT_KEYS } from '../../src/redis/redis-keys.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { waitUntil } from '../support/wait-until.ts';
import { answerStatus } from '../support/webhooks/start-receiver.ts';
import { BUCKET, NAME, rawOf, START_MS, textOf, useWebhookScene } from './webhook-scene.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What `add-events.lua` keeps of the list and of the ids that it knows. */
const LIST_MAX = 50_000;
const KNOWN_MAX = 60_000;
const PAGE = 500;
/** Few enough for a busy machine to answer before the connection is given up. */
const PAGES_AT_ONCE = 10;

const { lease, list, known } = EVENT_KEYS;
const FILL = `for number = ARGV[1], ARGV[2] do
  redis.call('XADD', KEYS[1], number .. '-0', 'event', '${textOf(0)}')
  redis.call('ZADD', KEYS[2], number, number)
end`;

const FILL_UNKNOWN = `for number = ARGV[1], ARGV[2] do
  redis.call('XADD', KEYS[1], number .. '-0', 'event', 'of a later version')
end`;

const scene = useWebhookScene();

it('the lease of a node that died ends in time, though the clock of Redis was set back', async () => {
  await scene.connection.send('set', [lease, 'dead 1', 'px', HOUR_MS]);
  const store = createWebhookStore(scene.connection, 'node_a 2');
  expect(await store.hold(20)).toBeUndefined();
  const isHeld = async () => (await store.hold(1_000)) !== undefined;
  await waitUntil(isHeld, 'the next one holds it');
});

describe('a webhook', () => {
  it('is told of the next event when one that failed is older than a day, and everybody can see it', async () => {
    const old = rawOf(textOf(1, START_MS - DAY_MS - HOUR_MS));
    const next = rawOf(textOf(2));
    scene.receiver.answer(answerStatus(503));
    // The clock of the node makes nothing older.
    const { outcomes, log, stop } = scene.tell({ nowMs: () => START_MS + 2 * DAY_MS });
    await waitUntil(async () => (await scene.cursorOf()) === '0', 'the webhook has its place');
    await addEvents(scene.connection, [old, next]);
    await waitUntil(() => outcomes.failed > 1, 'the next one has failed');
    expect(scene.receivedIds().slice(0, 2)).toEqual([old.event.id, next.event.id]);
    scene.receiver.answer(answerStatus(204));
    await waitUntil(() => outcomes.delivered > 0, 'the next one is told');
    await stop();
    expect(outcomes).toMatchObject({ dropped: 1, delivered: 1, lost: 0 });
    expect(scene.receivedIds().at(-1)).toBe(next.event.id);
    expect(await readWebhookState(scene.connection, NAME)).toMatchObject({
      ...{ waiting: 0, dropped: 1, failing: undefined },
    });
    expect(log.lines).toContainEqual({
      level: 'error',
      message: 'events were given up after a day',
      fields: { webhook: NAME, dropped: 1 },
    });
  });

  it('that was away while more came than the list keeps is told of the rest, and of how many are lost', async () => {
    const first = scene.tell({ events: ['balance.low'] });
    await waitUntil(async () => (await scene.cursorOf()) === '0', 'the webhook has its place');
    await first.stop();

    // As if they had been added one after the other.
    const count = KNOWN_MAX + PAGE;
    for (let first = 1; first < count - PAGE; first += PAGES_AT_ONCE * PAGE) {
      const last = Math.min(first + PAGES_AT_ONCE * PAGE - 1, count - PAGE);
      await scene.connection.send('eval', [FILL, '2', list, known, `${first}`, `${last}`]);
    }
    const page = Array.from({ length: PAGE }, (_, n) => rawOf(textOf(n)));
    await addEvents(scene.connection, page);
    const last = rawOf(textOf(count + 1, START_MS, 'l'));
    expect(await addEvents(scene.connection, [last])).toMatchObject([{ number: count + 1 }]);
    expect(await addEvents(scene.connection, [last])).toEqual([]);
    const kept = Number(await scene.connection.send('xlen', [list]));
    expect(kept).toBeGreaterThanOrEqual(LIST_MAX);
    expect(kept).toBeLessThan(LIST_MAX + PAGE);
    expect(Number(await scene.connection.send('zcard', [known]))).toBe(KNOWN_MAX);

    const second = scene.tell({ events: ['balance.low'] });
    await waitUntil(() => second.outcomes.delivered > 0, 'the last one is told');
    await second.stop();
    const lost = count + 1 - kept;
    expect(second.outcomes).toEqual({ delivered: 1, failed: 0, dropped: 0, lost });
    expect(scene.receivedIds()).toEqual([last.event.id]);
    expect(await readWebhookState(scene.connection, NAME)).toMatchObject({
      waiting: 0,
      dropped: lost,
    });
    expect(second.log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', fields: { webhook: NAME, lost } }),
    );
    // Who asks for an account whose events are gone gets none, and no error.
    const none = await listEvents(scene.connection, { accountId: 'acct_03b', limit: 5 });
    expect(none).toEqual({ events: [], next: undefined });
  });

  it('is told of what comes after more events of a later version than are read at once', async () => {
    const { outcomes, stop } = scene.tell();
    await waitUntil(async () => (await scene.cursorOf()) === '0', 'the webhook has its place');
    const [first, next] = [rawOf(textOf(1)), rawOf(textOf(2))];
    await addEvents(scene.connection, [first]);
    await waitUntil(() => outcomes.delivered === 1, 'the first one is told');
    await scene.connection.send('eval', [FILL_UNKNOWN, '1', list, '2', '301']);
    await addEvents(scene.connection, [next]);
    await waitUntil(() => outcomes.delivered === 2, 'the next one is told');
    await stop();
    expect(outcomes).toMatchObject({ delivered: 2, lost: 0 });
    expect(scene.receivedIds()).toEqual([first.event.id, next.event.id]);
  });

  it('has only those events waiting that it wants', async () => {
    scene.receiver.answer(answerStatus(503));
    const { outcomes, report, stop } = scene.tell({ events: ['limit.warning'] });
    await waitUntil(async () => (await scene.cursorOf()) === '0', 'the webhook has its place');
    const texts = [textOf(1), textOf(2, START_MS, 'l'), textOf(3), textOf(4, START_MS, 'l')];
    await addEvents(scene.connection, texts.map(rawOf));
    await waitUntil(() => outcomes.failed > 0, 'it has failed');
    await stop();
    expect(report().waiting).toBe(2);
    const state = () => readWebhookState(scene.connection, NAME);
    expect(await state()).toMatchObject({ waiting: 2 });
    // Nobody has read it yet.
    await addEvents(scene.connection, [rawOf(textOf(5))]);
    expect(await state()).toMatchObject({ waiting: 3 });
  });

  it('that fails goes on failing since its first failure when another node takes over', async () => {
    let nowMs = START_MS;
    scene.receiver.answer(answerStatus(503));
    const failsOn = async () => {
      const { outcomes, report, stop } = scene.tell({ nowMs: () => nowMs });
      await waitUntil(async () => (await scene.cursorOf()) === '0', 'the webhook has its place');
      await addEvents(scene.connection, [rawOf(textOf(1))]);
      await waitUntil(() => outcomes.failed > 0, 'it has failed');
      const { failingSinceMs } = report();
      await stop();
      return failingSinceMs;
    };
    expect(await failsOn()).toBe(START_MS);
    nowMs += HOUR_MS;
    expect(await failsOn()).toBe(START_MS);
    expect(await readWebhookState(scene.connection, NAME)).toMatchObject({
      failing: { sinceMs: START_MS },
    });
  });

  it('stays with the node that tells it when another process of its data folder comes and goes', async () => {
    const waiting: (() => void)[] = [];
    scene.receiver.answer((...post) => waiting.push(() => answerStatus(204)(...post)));
    const { outcomes, stop } = scene.tell();
    await waitUntil(async () => (await scene.cursorOf()) === '0', 'the webhook has its place');
    await addEvents(scene.connection, [rawOf(textOf(1))]);
    await waitUntil(() => waiting.length > 0, 'the post is on its way');
    await scene.tell().stop();
    waiting[0]?.();
    await waitUntil(() => outcomes.delivered > 0, 'it is delivered');
    await waitUntil(async () => (await scene.cursorOf()) === '1', 'it is noted');
    await stop();
    expect(scene.receivedIds()).toHaveLength(1);
  });

  it('that another node has taken over is not said to fail by a node that was away', async () => {
    const waiting: (() => void)[] = [];
    scene.receiver.answer((...post) => waiting.push(() => answerStatus(503)(...post)));
    const { outcomes, stop } = scene.tell({ nowMs: () => START_MS });
    await waitUntil(async () => (await scene.cursorOf()) === '0', 'the webhook has its place');
    await addEvents(scene.connection, [rawOf(textOf(1, START_MS))]);
    await waitUntil(() => waiting.length > 0, 'the post is on its way');
    await scene.connection.send('set', [EVENT_KEYS.lease, 'another-node']);
    waiting[0]?.();
    await waitUntil(() => outcomes.failed > 0, 'it has failed');
    await stop();
    expect(await readWebhookState(scene.connection, NAME)).toMatchObject({ failing: undefined });
  });
});

describe('a bucket', () => {
  const { events, eventsTaken } = keysOfBucket(BUCKET);

  it('whose events were pushed out before the list had them says how many, once', async () => {
    const lost: number[] = [];
    const heard: LimitEvent[] = [];
    const log = createMemoryLog();
    const collector = createEventCollector({
      ...{ connection: scene.connection, log },
      onEvent: (event) => heard.push(event),
      onLost: (count) => lost.push(count),
    });
    const add = (number: number) =>
      scene.connection.send('xadd', [events, '*', 'event', textOf(number)]);
    await add(1);
    await scene.connection.send('hset', [eventsTaken, 'lost', '7']);
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
    const [newest] = (await scene.connection.send('xrevrange', [
      events,
      '+',
      '-',
      'COUNT',
      '1',
    ])) as [[string]];
    expect(await scene.connection.send('hget', [eventsTaken, 'place'])).toBe(newest[0]);
  });
});
