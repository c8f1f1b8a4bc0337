import { describe, expect, it } from 'vitest';
import { addEvents } from '../../src/events/list/event-list.ts';
import { createWebhookStore } from '../../src/events/webhooks/webhook-store.ts';
import { EVENT_KEYS } from '../../src/redis/redis-keys.ts';
import { NAME, rawOf, textOf, useWebhookScene } from './webhook-scene.ts';

const MONTH_S = 30 * 86_400;
/** As if the month were over soon. */
const LEFT_S = 1_000;

const webhook = EVENT_KEYS.webhook(NAME);
const told = EVENT_KEYS.told(NAME);

const scene = useWebhookScene();
const send = (command: string, ...args: string[]) => scene.connection.send(command, args);
const leftOf = async (key: string) => Number(await send('ttl', key));
const age = (key: string) => send('expire', key, `${LEFT_S}`);

describe('the place of a webhook', () => {
  it('is kept for another month whenever a node looks for it', async () => {
    await addEvents(
      scene.connection,
      Array.from({ length: 4 }, (_, n) => rawOf(textOf(n))),
    );
    await send('hset', webhook, 'cursor', '2');
    await send('zadd', told, '4', '4');
    for (const key of [webhook, told]) await age(key);
    const store = createWebhookStore(scene.connection, 'node_a 2');
    const place = await store.findPlace(NAME);
    expect(place).toMatchObject({ cursor: 2, told: new Set([4]) });
    for (const key of [webhook, told]) expect(await leftOf(key)).toBeGreaterThan(MONTH_S);
  });

  it('is kept for another month when a node notes it, with nothing new', async () => {
    await addEvents(scene.connection, [rawOf(textOf(1))]);
    const store = createWebhookStore(scene.connection, 'node_a 2');
    const { cursor, seen } = await store.findPlace(NAME);
    await age(webhook);
    const before = Number(((await send('time')) as unknown[])[0]) * 1_000;
    expect(await store.hold(60_000)).toBeGreaterThanOrEqual(before);
    const done = { number: undefined, cursor, dropped: 0, seen, readTo: cursor, waiting: 0 };
    expect(await store.note(NAME, done)).toBe(true);
    expect(await leftOf(webhook)).toBeGreaterThan(MONTH_S);
    const other = createWebhookStore(scene.connection, 'node_b 1');
    expect(await other.hold(60_000)).toBeUndefined();
  });
});
