import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decodeEvent, type LimitEvent } from '../../src/events/limit-event.ts';
import { createEventCollector } from '../../src/events/list/event-collector.ts';
import { addEvents, type RawEvent } from '../../src/events/list/event-list.ts';
import { startWebhooks, type WebhookSettings } from '../../src/events/webhooks/start-webhooks.ts';
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

const BUCKET = 3;
const NAME = 'billing';
const START_MS = Date.UTC(2026, 10, 15, 12);
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

const cleanUp = useCleanUp();
let connection: TestConnection;
let receiver: WebhookReceiver;

beforeAll(async () => {
  const { port } = await startRedisServer();
  connection = openConnection(standalone(tcp(port)));
  await waitForRedis(connection);
});
beforeEach(async () => {
  await connection.send('flushall', []);
  receiver = await startReceiver(cleanUp);
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

const textOf = (number: number) =>
  `w|key|03key|t|60000|100|80|0|acct_03a|03key|${number}|${START_MS}`;

function rawOf(number: number): RawEvent {
  const text = textOf(number);
  return { text, event: decodeEvent(text) as LimitEvent };
}

const copy = (pairs: readonly (readonly [string, string])[]) =>
  connection.send('eval', [COPY, String(pairs.length * 2), ...pairs.flat()]);

/** From now on the replica gets nothing more. */
const cutReplica = () => copy(STATE.map((key) => [key, replicaOf(key)]));

/** The replica is the master now, and these events were the first to come into its list. */
async function failOver(events: readonly RawEvent[]): Promise<void> {
  const args = events.flatMap(({ text, event }) => [event.id, text]);
  await connection.send('eval', [ADD, '2', replicaOf(list), replicaOf(known), ...args]);
  await copy(STATE.map((key) => [replicaOf(key), key]));
}

function startTelling() {
  const settings: WebhookSettings = {
    hosts: ['127.0.0.1'],
    privateNetworks: [{ address: '127.0.0.0', bits: 8, family: 4 }],
    endpoints: [
      {
        ...{ name: NAME, url: receiver.url, events: ['limit.warning'] },
        secrets: [new Secret('whsec_AQEB')],
      },
    ],
  };
  return startWebhooks({
    ...{ connection, nodeId: 'a-node', settings: () => settings, userAgent: 'tollgate' },
    resolve: () => Promise.reject(new Error('there are no names')),
    onOutcome: () => {},
    clock: { nowMs: () => START_MS },
    random: () => 0,
    log: createMemoryLog(),
  });
}

const hasCursor = (cursor: number) =>
  waitUntil(
    async () =>
      (await connection.send('hget', [EVENT_KEYS.webhook(NAME), 'cursor'])) === `${cursor}`,
    `the webhook is at ${cursor}`,
  );
const isTold = ({ event }: RawEvent) =>
  receiver.received.some(({ headers }) => headers['webhook-id'] === event.id);

describe('a webhook, after a failover that takes back the end of the list', () => {
  const [first, lost, next, fresh, other] = [rawOf(1), rawOf(2), rawOf(3), rawOf(4), rawOf(5)];

  it('is told of an event that has the number of one it was told', async () => {
    const { stop } = startTelling();
    await hasCursor(0);
    await addEvents(connection, [first]);
    await hasCursor(1);
    await cutReplica();
    await addEvents(connection, [lost, next]);
    await hasCursor(3);
    // The last event that it was told has the number that it had.
    await failOver([fresh, next]);
    await waitUntil(() => isTold(fresh), 'it is told');
    await addEvents(connection, [lost]);
    await hasCursor(4);
    await stop();
  });

  it('is told of all, also if a post ends that began before', async () => {
    const { stop } = startTelling();
    await hasCursor(0);
    await addEvents(connection, [first]);
    await hasCursor(1);
    await cutReplica();
    const waiting: ServerResponse[] = [];
    receiver.answer((response, { headers }) => {
      if (headers['webhook-id'] === next.event.id) waiting.push(response);
      else response.writeHead(204).end();
    });
    await addEvents(connection, [lost, next]);
    await waitUntil(() => waiting.length === 1, 'a post is under way');
    await hasCursor(2);
    await failOver([fresh, other, lost, next]);
    receiver.answer(answerStatus(204));
    waiting[0]?.writeHead(204).end();
    await waitUntil(() => isTold(fresh) && isTold(other), 'it is told');
    await hasCursor(5);
    await stop();
  });

  it('goes on behind events that have their old numbers, and is not told of them again', async () => {
    const { stop } = startTelling();
    await hasCursor(0);
    await addEvents(connection, [first]);
    await hasCursor(1);
    await cutReplica();
    await addEvents(connection, [lost]);
    await hasCursor(2);
    await failOver([lost, fresh]);
    await hasCursor(3);
    await stop();
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual(
      [first, lost, fresh].map(({ event }) => event.id),
    );
  });
});

it('a webhook that is ahead of a list that begins anew is told of all of it', async () => {
  await connection.send('hset', [EVENT_KEYS.webhook(NAME), 'cursor', '7']);
  await connection.send('zadd', [EVENT_KEYS.told(NAME), '9', '9']);
  const events = Array.from({ length: 3 }, (_, n) => rawOf(n));
  await addEvents(connection, events);
  const { stop } = startTelling();
  await waitUntil(() => events.every(isTold), 'it is told');
  await hasCursor(3);
  await stop();
  expect(await connection.send('zcard', [EVENT_KEYS.told(NAME)])).toBe(0);
});

it('a list without histories, of the version before, is told on from where the webhook was', async () => {
  const events = Array.from({ length: 3 }, (_, n) => rawOf(n));
  for (const [n, { text }] of events.entries()) {
    await connection.send('xadd', [list, `${n + 1}-0`, 'event', text]);
  }
  await connection.send('hset', [EVENT_KEYS.webhook(NAME), 'cursor', '1']);
  const { stop } = startTelling();
  await hasCursor(3);
  await addEvents(connection, [rawOf(4)]);
  await hasCursor(4);
  await stop();
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual(
    [...events.slice(1), rawOf(4)].map(({ event }) => event.id),
  );
});

describe('a bucket, before a failover and after it', () => {
  const { events } = keysOfBucket(BUCKET);
  const length = async (key: string) => Number(await connection.send('xlen', [key]));

  function startCollecting() {
    const collector = createEventCollector({
      ...{ connection, log: createMemoryLog() },
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
    await connection.send('xadd', [events, id, 'event', textOf(1)]);
    await collect();
    expect(await length(list)).toBe(1);
    noteSame(MINUTE_MS - 1);
    await connection.send('del', [list, known]);
    // A sweep may come before anybody has noticed the change.
    await collect();
    noteMasterChange();
    await collect();
    expect(await length(list)).toBe(1);
  });

  it('lets an event go when the masters were the same for a minute since the list has it', async () => {
    const { collect, noteSame, noteMasterChange } = startCollecting();
    noteMasterChange();
    await connection.send('xadd', [events, '1-18', 'event', textOf(1)]);
    await collect();
    noteSame(MINUTE_MS);
    await connection.send('xadd', [events, '1-19', 'event', textOf(2)]);
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
