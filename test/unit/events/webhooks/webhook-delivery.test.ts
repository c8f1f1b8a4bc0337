import { expect, it } from 'vitest';
import { decodeEvent, type LimitEvent } from '../../../../src/events/limit-event.ts';
import type { ListedEvent } from '../../../../src/events/list/event-list.ts';
import { createWebhookDelivery } from '../../../../src/events/webhooks/webhook-delivery.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { createMemoryLog } from '../../../support/memory-log.ts';

/** More than one account may tell in a day: 300 events an hour, and that more are left out. */
const EVENTS_OF_ONE = 24 * 301;
const AT_MS = 1_000_000;

const eventOf = (number: number, accountId: string): ListedEvent => {
  const text = `w|key|03key|t|60000|100|80|0|${accountId}|03key|${number}|${AT_MS}`;
  return { number, event: decodeEvent(text) as LimitEvent, history: `${number}` };
};

it('an account whose events nobody takes keeps back no other account, however many it tells in a day', async () => {
  const listed = Array.from({ length: EVENTS_OF_ONE }, (_, n) => eventOf(n + 1, 'acct_03late'));
  listed.push(eventOf(EVENTS_OF_ONE + 1, 'acct_03other'));
  const delivered: number[] = [];
  let nowMs = AT_MS;
  const webhook = { name: 'all', url: '', secrets: [new Secret('')], events: ['limit.warning'] };
  const store = {
    note: async () => true,
    noteDelivered: async () => {},
    noteFailing: async () => {},
  };
  const delivery = createWebhookDelivery({
    ...{ name: 'all', webhook: () => webhook, store, log: createMemoryLog() },
    place: { cursor: 0, told: new Set(), seen: { number: 0, history: '' } },
    async post(_webhook, { id }) {
      const { event, number } = listed.find((each) => each.event.id === id) as ListedEvent;
      if (event.accountId === 'acct_03late') {
        return { kind: 'failed', status: 404, reason: 'nobody knows this account' };
      }
      delivered.push(number);
      return { kind: 'delivered', status: 204 };
    },
    mayPost: () => true,
    readFrom: async (number, count) =>
      listed.filter((each) => each.number >= number).slice(0, count),
    onOutcome: () => {},
    nowMs: () => nowMs,
    random: () => 0,
  });
  for (let look = 0; look < 3; look++) {
    expect(await delivery.look()).toBe(true);
    await delivery.finishPosts();
    nowMs += 60_000;
  }
  expect(delivered).toEqual([EVENTS_OF_ONE + 1]);
  expect(delivery.waiting()).toBe(EVENTS_OF_ONE);
});
