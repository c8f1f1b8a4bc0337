import { describe, expect, it } from 'vitest';
import { addEvents } from '../../../../src/events/list/event-list.ts';
import type { AdmitArguments } from '../../../../src/quota/scripts/admit.ts';
import { repairFigure } from '../../../../src/quota/scripts/repair-figure.ts';
import {
  ACCOUNT,
  BUCKET,
  LEASE_MS,
  NOW_MS,
  openScripts,
  redisKeys,
  requestNumber,
} from '../open-scripts.ts';
import { openEventReader } from './open-event-reader.ts';

const scripts = openScripts();

const ask = (number: number, more: Partial<AdmitArguments> = {}) =>
  scripts.admit({ requestId: requestNumber(number), holdMicros: 0, ...more });
const { readEvents, told, toldMarks } = openEventReader(scripts);

describe('a balance', () => {
  it('is low once when a charge brings it below the line, and again after credits were added', async () => {
    scripts.setWarnings({ lowBalanceMicros: 500 });
    const charge = async (number: number, micros: number) => {
      await ask(number, { holdMicros: micros });
      await scripts.settle(micros, { requestId: requestNumber(number) });
    };
    await charge(1, 500);
    expect(await told()).toEqual([]);
    await charge(2, 1);
    await charge(3, 1);
    expect(await readEvents()).toMatchObject([
      { type: 'balance.low', amount: 500, counted: 499, window: undefined, source: 'balance' },
    ]);
    await scripts.credit(100);
    await charge(4, 200);
    expect(await told()).toEqual(['balance.low 499', 'balance.low 398']);
    const ids = (await readEvents()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('has a line of its own before that of the settings', async () => {
    scripts.setWarnings({ lowBalanceMicros: 500 });
    await scripts.setAccount({ low: 900 });
    await ask(1, { holdMicros: 101 });
    await scripts.settle(101, { requestId: requestNumber(1) });
    expect(await told()).toEqual(['balance.low 899']);
  });

  it('is low again below a line that holds again, also if credits came under another one', async () => {
    let requests = 0;
    const fallTo = async (balance: number) => {
      const micros = Number((await scripts.account())['balance']) - balance;
      requests += 1;
      await ask(requests, { holdMicros: micros });
      await scripts.settle(micros, { requestId: requestNumber(requests) });
    };
    await scripts.setAccount({ low: 500 });
    await fallTo(490);
    await scripts.setAccount({ low: 600 });
    await scripts.credit(210);
    await fallTo(590);
    await scripts.setAccount({ low: 500 });
    await fallTo(480);
    await fallTo(470);
    expect(await told()).toEqual(['balance.low 490', 'balance.low 590', 'balance.low 480']);
    expect(new Set((await readEvents()).map(({ id }) => id)).size).toBe(3);
  });

  it('is low by a sweep and by an adjustment', async () => {
    scripts.setWarnings({ lowBalanceMicros: 950 });
    await ask(1, { holdMicros: 100 });
    await scripts.renew(60, { requestId: requestNumber(1) });
    await scripts.setClock(NOW_MS + 10 * LEASE_MS);
    await scripts.sweep();
    expect(await told()).toEqual(['balance.low 940']);
    await scripts.credit(20);
    await scripts.credit(-20, { paymentId: 'back', kind: 'adjustment' });
    expect(await told()).toEqual(['balance.low 940', 'balance.low 940']);
  });

  it('is exhausted when it refuses a request or nothing is left, until credits are added', async () => {
    await ask(1, { holdMicros: 900 });
    for (const number of [2, 3]) await ask(number, { holdMicros: 200, holdLeastMicros: 200 });
    expect(await readEvents()).toMatchObject([
      { type: 'balance.exhausted', counted: 1_000, held: 900, amount: 0 },
    ]);
    await scripts.settle(1_000, { requestId: requestNumber(1) });
    expect(await told()).toHaveLength(1);
    await scripts.credit(10);
    await ask(4, { holdMicros: 10, holdLeastMicros: 10 });
    await scripts.settle(10, { requestId: requestNumber(4) });
    expect(await told()).toEqual(['balance.exhausted 1000', 'balance.exhausted 0']);
  });

  it('is low again after a repair raised it, and not after one that lowered it', async () => {
    scripts.setWarnings({ lowBalanceMicros: 500 });
    const repair = (before: number, after: number) =>
      repairFigure(scripts.connection, BUCKET, ACCOUNT, {
        ...{ key: null, field: 'balance', before: String(before), after: String(after) },
      });
    const charge = async (number: number, micros: number) => {
      await ask(number, { holdMicros: micros });
      await scripts.settle(micros, { requestId: requestNumber(number) });
    };
    await charge(1, 600);
    await repair(400, 800);
    await charge(2, 400);
    expect(await told()).toEqual(['balance.low 400', 'balance.low 400']);
    await repair(400, 300);
    expect(await toldMarks()).toHaveLength(1);
  });

  it('has the same id when a failover lost the charge and it is made again', async () => {
    scripts.setWarnings({ lowBalanceMicros: 500 });
    await scripts.settle(600);
    const [first] = await readEvents();
    await scripts.send('del', redisKeys.events, redisKeys.ledger, ...(await toldMarks()));
    await scripts.send('del', redisKeys.done(requestNumber(1)));
    await scripts.setAccount({ balance: 1_000 });
    await scripts.settle(700);
    const [again] = await readEvents();
    expect(again).toMatchObject({ id: first?.id, type: 'balance.low' });
  });

  it('is listed as low again after credits that came when nobody knew of the last time any more', async () => {
    scripts.setWarnings({ lowBalanceMicros: 500 });
    const list = async () => {
      const events = (await readEvents()).map((event) => ({ text: '', event }));
      await scripts.send('del', redisKeys.events);
      return (await addEvents(scripts.connection, events)).map(({ event }) => event.type);
    };
    await ask(1, { holdMicros: 600 });
    await scripts.settle(600, { requestId: requestNumber(1) });
    expect(await list()).toEqual(['balance.low']);
    // Marks go after a month.
    await scripts.send('del', ...(await toldMarks()));
    await scripts.credit(200);
    await ask(2, { holdMicros: 200 });
    await scripts.settle(200, { requestId: requestNumber(2) });
    expect(await list()).toEqual(['balance.low']);
  });
});
