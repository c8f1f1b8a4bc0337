import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createEventCollector } from '../../src/events/list/event-collector.ts';
import { addEvents, type RawEvent } from '../../src/events/list/event-list.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { EVENT_KEYS } from '../../src/redis/redis-keys.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { waitUntil } from '../support/wait-until.ts';
import { answerStatus } from '../support/webhooks/start-receiver.ts';
import { BUCKET, NAME, rawOf, textOf, useWebhookScene } from './webhook-scene.ts';

const MINUTE_MS = 60_000;

const { list, known } = EVENT_KEYS;
/** What a failover may take back. */
const STATE = [list, known, EVENT_KEYS.webhook(NAME), EVENT_KEYS.told(NAME)];
const replicaOf = (key: string) => `replica:${key}`;
/** Makes of each second key what the first one is, all at one moment. */
const COPY = `for at = 1, #KEYS, 2 do
  redis.call('DEL', KEYS[at + 1])
  redis.call('COPY', KEYS[at], KEYS[at + 1])
end`;
const ADD = readFileSync(new URL('../../src/events/list/add-events.lua', import.meta.url), 'utf8');

const scene = useWebhookScene();
const eventOf = (number: number) => rawOf(textOf(number));

const copy = (pairs: readonly (readonly [string, string])[]) =>
  scene.connection.send('eval', [COPY, String(pairs.length * 2), ...pairs.flat()]);

/** From now on the replica gets nothing more. */
const cutReplica = () => copy(STATE.map((key) => [key, replicaOf(key)]));

/** The replica is the master now, and these events were the first to come into its list. */
async function failOver(events: readonly RawEvent[]): Promise<void> {
  const args = events.flatMap(({ text, event }) => [event.id, text]);
  await scene.connection.send('eval', [ADD, '2', replicaOf(list), replicaOf(known), ...args]);
  await copy(STATE.map((key) => [replicaOf(key), key]));
}

const hasCursor = (cursor: number) =>
  waitUntil(async () => (await scene.cursorOf()) === `${cursor}`, `the webhook is at ${cursor}`);
const isTold = ({ event }: RawEvent) => scene.receivedIds().includes(event.id);

describe('a webhook, after a failover that takes back the end of the list', () => {
  const [first, lost, next, fresh, other] = [
    eventOf(1),
    eventOf(2),
    eventOf(3),
    eventOf(4),
    eventOf(5),
  ];

  it('is told of an event that has the number of one it was told', async () => {
    const { stop } = scene.tell();
    await hasCursor(0);
    await addEvents(scene.connection, [first]);
    await hasCursor(1);
    await cutReplica();
    await addEvents(scene.connection, [lost, next]);
    await hasCursor(3);
    // The last event that it was told has the number that it had.
    await failOver([fresh, next]);
    await waitUntil(() => isTold(fresh), 'it is told');
    await addEvents(scene.connection, [lost]);
    await hasCursor(4);
    await stop();
  });

  it('is told of all, also if a post ends that began before', async () => {
    const { stop } = scene.tell();
    await hasCursor(0);
    await addEvents(scene.connection, [first]);
    await hasCursor(1);
    await cutReplica();
    const waiting: ServerResponse[] = [];
    scene.receiver.answer((response, { headers }) => {
      if (headers['webhook-id'] === next.event.id) waiting.push(response);
      else response.writeHead(204).end();
    });
    await addEvents(scene.connection, [lost, next]);
    await waitUntil(() => waiting.length === 1, 'a post is under way');
    await hasCursor(2);
    await failOver([fresh, other, lost, next]);
    scene.receiver.answer(answerStatus(204));
    waiting[0]?.writeHead(204).end();
    await waitUntil(() => isTold(fresh) && isTold(other), 'it is told');
    await hasCursor(5);
    await stop();
  });

  it('goes on behind events that have their old numbers, and is not told of them again', async () => {
    const { stop } = scene.tell();
    await hasCursor(0);
    await addEvents(scene.connection, [first]);
    await hasCursor(1);
    await cutReplica();
    await addEvents(scene.connection, [lost]);
    await hasCursor(2);
    await failOver([lost, fresh]);
    await hasCursor(3);
    await stop();
    expect(scene.receivedIds()).toEqual([first, lost, fresh].map(({ event }) => event.id));
  });
});

it('a webhook that is ahead of a list that begins anew is told of all of it', async () => {
  await scene.connection.send('hset', [EVENT_KEYS.webhook(NAME), 'cursor', '7']);
  await scene.connection.send('zadd', [EVENT_KEYS.told(NAME), '9', '9']);
  const events = Array.from({ length: 3 }, (_, n) => eventOf(n));
  await addEvents(scene.connection, events);
  const { stop } = scene.tell();
  await waitUntil(() => events.every(isTold), 'it is told');
  await hasCursor(3);
  await stop();
  expect(await scene.connection.send('zcard', [EVENT_KEYS.told(NAME)])).toBe(0);
});

it('a list without histories, of the version before, is told on from where the webhook was', async () => {
  const events = Array.from({ length: 3 }, (_, n) => eventOf(n));
  for (const [n, { text }] of events.entries()) {
    await scene.connection.send('xadd', [list, `${n + 1}-0`, 'event', text]);
  }
  await scene.connection.send('hset', [EVENT_KEYS.webhook(NAME), 'cursor', '1']);
  const { stop } = scene.tell();
  await hasCursor(3);
  await addEvents(scene.connection, [eventOf(4)]);
  await hasCursor(4);
  await stop();
  expect(scene.receivedIds()).toEqual(
    [...events.slice(1), eventOf(4)].map(({ event }) => event.id),
  );
});

describe('a bucket, before a failover and after it', () => {
  const { events } = keysOfBucket(BUCKET);
  const length = async (key: string) => Number(await scene.connection.send('xlen', [key]));

  function startCollecting() {
    const collector = createEventCollector({
      ...{ connection: scene.connection, log: createMemoryLog() },
      onEvent: () => {},
      onLost: () => {},
    });
    const collect = async () => {
      collector.collect(BUCKET);
      await collector.stop();
    };
    return { ...collector, collect };
  }

  it('keeps an event that the list may lose, however long ago it was told', async () => {
    const { collect, noteSame, noteMasterChange } = startCollecting();
    noteMasterChange();
    const id = `${Date.now() - 60 * MINUTE_MS}-0`;
    await scene.connection.send('xadd', [events, id, 'event', textOf(1)]);
    await collect();
    expect(await length(list)).toBe(1);
    noteSame(MINUTE_MS - 1);
    await scene.connection.send('del', [list, known]);
    // A sweep may come before anybody has noticed the change.
    await collect();
    noteMasterChange();
    await collect();
    expect(await length(list)).toBe(1);
  });

  it('lets an event go when the masters were the same for a minute since the list has it', async () => {
    const { collect, noteSame, noteMasterChange } = startCollecting();
    noteMasterChange();
    await scene.connection.send('xadd', [events, '1-18', 'event', textOf(1)]);
    await collect();
    noteSame(MINUTE_MS);
    await scene.connection.send('xadd', [events, '1-19', 'event', textOf(2)]);
    await collect();
    expect(await length(events)).toBe(2);
    noteSame(MINUTE_MS - 1);
    await collect();
    expect(await length(events)).toBe(2);
    noteSame(1);
    await collect();
    expect(await length(events)).toBe(1);
    // Other masters begin from the start.
    noteMasterChange();
    await collect();
    noteSame(MINUTE_MS);
    await collect();
    expect(await length(events)).toBe(1);
    noteSame(MINUTE_MS);
    await collect();
    expect(await length(events)).toBe(0);
  });
});
