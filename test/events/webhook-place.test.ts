import { describe, expect, it } from 'vitest';
import { addEvents } from '../../src/events/list/event-list.ts';
import { createWebhookStore } from '../../src/events/webhooks/webhook-store.ts';
import { EVENT_KEYS } from '../../src/redis/redis-keys.ts';
import { waitUntil } from '../support/wait-until.ts';
import { NAME, rawOf, START_MS, textOf, useWebhookScene } from './webhook-scene.ts';

const HOUR_MS = 3_600_000;
const MONTH_S = 30 * 86_400;
/** As if the month were over soon. */
const LEFT_S = 1_000;
const LOOKS = 4;

const webhook = EVENT_KEYS.webhook(NAME);
const told = EVENT_KEYS.told(NAME);

const scene = useWebhookScene();
const send = (command: string, ...args: string[]) => scene.connection.send(command, args);
const leftOf = async (key: string) => Number(await send('ttl', key));
const age = (key: string) => send('expire', key, `${LEFT_S}`);

/** Each look of a webhook reads the list. */
async function waitForLooks(): Promise<void> {
  const countReads = async () =>
    Number(/cmdstat_xrange:calls=(\d+)/.exec(String(await send('info', 'commandstats')))?.[1] ?? 0);
  const before = await countReads();
  await waitUntil(async () => (await countReads()) >= before + LOOKS, 'it has looked again');
}

describe('the place of a webhook', () => {
  it('is kept for another month whenever a node looks for it', async () => {
    await addEvents(
      scene.connection,
      Array.from({ length: 4 }, (_, n) => rawOf(textOf(n))),
    );
    await send('hset', webhook, 'cursor', '2');
    await send('zadd', told, '4', '4');
    for (const key of [webhook, told]) await age(key);
    const place = await createWebhookStore(scene.connection, 'node_a 2').findPlace(NAME);
    expect(place).toMatchObject({ cursor: 2, told: new Set([4]) });
    for (const key of [webhook, told]) expect(await leftOf(key)).toBeGreaterThan(MONTH_S);
  });

  it('is kept for another month once an hour while there is nothing to tell', async () => {
    let nowMs = START_MS;
    const { outcomes, stop } = scene.tell({ nowMs: () => nowMs });
    await waitUntil(async () => (await scene.cursorOf()) === '0', 'the webhook has its place');
    await addEvents(scene.connection, [rawOf(textOf(1))]);
    await waitUntil(async () => (await scene.cursorOf()) === '1', 'the webhook was told');
    await age(webhook);
    await waitForLooks();
    expect(await leftOf(webhook)).toBeLessThanOrEqual(LEFT_S);
    for (const jumpMs of [HOUR_MS, -24 * HOUR_MS]) {
      nowMs += jumpMs;
      await waitUntil(async () => (await leftOf(webhook)) > MONTH_S, 'it is kept for longer');
      await age(webhook);
      await waitForLooks();
      expect(await leftOf(webhook)).toBeLessThanOrEqual(LEFT_S);
    }
    await stop();
    expect(outcomes).toEqual({ delivered: 1, failed: 0, dropped: 0, lost: 0 });
    expect(await scene.cursorOf()).toBe('1');
  });
});
