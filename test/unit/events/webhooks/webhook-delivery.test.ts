import { expect, it } from 'vitest';
import { decodeEvent, type LimitEvent } from '../../../../src/events/limit-event.ts';
import type { ListedEvent } from '../../../../src/events/list/event-list.ts';
import { createWebhookDelivery } from '../../../../src/events/webhooks/webhook-delivery.ts';
import type { WebhookPlace } from '../../../../src/events/webhooks/webhook-store.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { createMemoryLog } from '../../../support/memory-log.ts';

/** As many as one account may tell in a day: 300 events an hour, and that more are left out. */
const EVENTS_OF_ONE = 24 * 301;
const AT_MS = 1_000_000;
const DAY_MS = 24 * 3_600_000;

const eventOf = (number: number, accountId: string): ListedEvent => {
  const text = `w|key|03key|t|60000|100|80|0|${accountId}|03key|${number}|${AT_MS}`;
  return { number, event: decodeEvent(text) as LimitEvent, history: `${number}` };
};

/** A receiver that refuses events of some accounts, and a list with a length. */
function openScene(listed: ListedEvent[], place: Partial<WebhookPlace> = {}) {
  const delivered: number[] = [];
  const cursors: number[] = [];
  const lost: number[] = [];
  const dropped: number[] = [];
  const tried: number[] = [];
  const refused = new Set<string>();
  let nowMs = AT_MS;
  let aheadMs = 0;
  const webhook = { name: 'all', url: '', secrets: [new Secret('')], events: ['limit.warning'] };
  const delivery = createWebhookDelivery({
    ...{ name: 'all', webhook: () => webhook, log: createMemoryLog() },
    place: {
      ...{ cursor: 0, told: new Set(), seen: { number: 0, history: '' } },
      ...{ failingSinceMs: undefined, ...place },
    },
    store: {
      async note(_name, { cursor }) {
        cursors.push(cursor);
        return true;
      },
      noteDelivered: async () => {},
      noteFailing: async () => {},
    },
    async post(_webhook, { id }) {
      const { event, number } = listed.find((each) => each.event.id === id) as ListedEvent;
      tried.push(number);
      if (refused.has(event.accountId)) {
        return { kind: 'failed', status: 404, reason: 'nobody knows this account' };
      }
      delivered.push(number);
      return { kind: 'delivered', status: 204 };
    },
    mayPost: () => true,
    readFrom: async (number, count) =>
      listed.filter((each) => each.number >= number).slice(0, count),
    onOutcome: (outcome, count) => {
      if (outcome === 'lost') lost.push(count);
      if (outcome === 'dropped') dropped.push(count);
    },
    nowMs: () => nowMs + aheadMs,
    redisNowMs: () => nowMs,
    monotonicMs: () => nowMs - AT_MS,
    random: () => 0,
  });
  const look = async () => {
    expect(await delivery.look()).toBe(true);
    await delivery.finishPosts();
    nowMs += 60_000;
  };
  const wait = (ms: number) => {
    nowMs += ms;
  };
  const setClock = (ms: number) => {
    aheadMs = ms;
  };
  const seen = { delivery, delivered, tried, cursors, lost, dropped };
  return { ...seen, refused, look, wait, setClock };
}

/** As many events of each account as one may tell in a day, in turns. */
const listOf = (...accounts: string[]) =>
  Array.from({ length: EVENTS_OF_ONE * accounts.length }, (_, n) =>
    eventOf(n + 1, accounts[n % accounts.length] as string),
  );

it('accounts whose events nobody takes keep back no other account, however many they tell in a day', async () => {
  const late = ['acct_03late', 'acct_03later', 'acct_03latest'];
  const listed = listOf(...late);
  const last = listed.length + 1;
  listed.push(eventOf(last, 'acct_03other'));
  const { delivery, delivered, cursors, refused, look } = openScene(listed);
  for (const account of late) refused.add(account);
  for (let count = 0; count < 3; count++) await look();
  expect(delivered).toEqual([last]);
  expect(cursors.at(-1)).toBe(0);
  expect(delivery.waiting()).toBe(EVENTS_OF_ONE * late.length);
});

it('events that did not fit into memory are told in their order, once, when they are taken again', async () => {
  const listed = listOf('acct_03late', 'acct_03other');
  const { delivery, delivered, cursors, lost, refused, look } = openScene(listed);
  refused.add('acct_03late');
  for (let count = 0; count < 3; count++) await look();
  refused.clear();
  while (delivery.waiting() > 0) await look();
  for (const rest of [0, 1]) {
    const ofOne = delivered.filter((number) => number % 2 === rest);
    expect(ofOne).toEqual(ofOne.toSorted((a, b) => a - b));
    expect(new Set(ofOne).size).toBe(EVENTS_OF_ONE);
  }
  expect(delivered).toHaveLength(listed.length);
  expect(cursors).toEqual(cursors.toSorted((a, b) => a - b));
  expect(cursors.at(-1)).toBe(listed.length);
  expect(lost).toEqual([]);
});

it('events count as lost that a full list pushed out before they fitted into memory', async () => {
  const listed = listOf('acct_03late');
  const { delivery, delivered, lost, refused, look } = openScene(listed);
  refused.add('acct_03late');
  await look();
  listed.splice(100, 1_000);
  refused.clear();
  while (delivery.waiting() > 0) await look();
  expect(lost).toEqual([1_000]);
  expect(delivered).toHaveLength(EVENTS_OF_ONE - 1_000);
});

it('no event counts as lost that the webhook has been told', async () => {
  const listed = listOf('acct_03one').slice(4);
  const told = new Set([2, 3, 6]);
  const { delivered, lost, look } = openScene(listed, { cursor: 1, told });
  await look();
  expect(lost).toEqual([1]);
  expect(delivered).not.toContain(6);
  expect(delivered[0]).toBe(5);
});

it('events that nobody could try for days are tried, once if they fail', async () => {
  const [late, other] = ['acct_03late', 'acct_03other'];
  const listed = [eventOf(1, late), eventOf(2, late), eventOf(3, other), eventOf(4, other)];
  const { delivery, delivered, tried, dropped, refused, look, wait } = openScene(listed);
  refused.add(late);
  wait(2 * DAY_MS);
  for (let count = 0; count < 3; count++) await look();
  expect(delivered).toEqual([3, 4]);
  expect(tried.filter((number) => number < 3)).toEqual([1, 2]);
  expect([dropped, delivery.waiting()]).toEqual([[1, 1], 0]);
});

it('events that waited for a day while the webhook failed are given up untried', async () => {
  const listed = [1, 2].map((number) => eventOf(number, 'acct_03late'));
  const { delivery, tried, dropped, refused, look, wait } = openScene(listed);
  refused.add('acct_03late');
  await look();
  wait(DAY_MS);
  await look();
  expect(tried).toEqual([1]);
  expect([dropped, delivery.waiting()]).toEqual([[1, 1], 0]);
});

it.each([-3 * 3_600_000, 2 * DAY_MS])(
  'an event that failed is tried again soon, also on a node whose clock was set by %d ms',
  async (ms) => {
    const { delivered, tried, dropped, refused, look, setClock } = openScene(
      [1, 2].map((number) => eventOf(number, 'acct_03late')),
    );
    refused.add('acct_03late');
    await look();
    setClock(ms);
    await look();
    refused.clear();
    await look();
    await look();
    expect([tried, delivered, dropped]).toEqual([[1, 1, 1, 2], [1, 2], []]);
  },
);

it('an event that fails is tried again after 2 s, then later and later, up to half an hour', async () => {
  const { delivery, tried, refused, wait } = openScene([eventOf(1, 'acct_03late')]);
  refused.add('acct_03late');
  const pausesSeconds: number[] = [];
  for (let seconds = 0; pausesSeconds.length < 13; seconds += 1) {
    const before = tried.length;
    await delivery.look();
    await delivery.finishPosts();
    if (tried.length > before) {
      pausesSeconds.push(seconds);
      seconds = 0;
    }
    wait(1_000);
  }
  const grown = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024];
  expect(pausesSeconds).toEqual([0, ...grown, 1_800, 1_800]);
});

it('the place of a webhook is noted again each hour while there is nothing to tell', async () => {
  const { cursors, look, wait } = openScene([]);
  await look();
  expect(cursors).toEqual([]);
  for (let hours = 1; hours < 3; hours++) {
    wait(3_600_000);
    await look();
    await look();
    expect(cursors).toHaveLength(hours);
  }
});
