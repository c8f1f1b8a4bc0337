import { describe, expect, it } from 'vitest';
import type { AdmitArguments } from '../../../../src/quota/scripts/admit.ts';
import { encodeLedgerUsage } from '../../../../src/quota/settlement/settlement.ts';
import { DETAILS } from '../../../support/request-details.ts';
import { ACCOUNT, KEY, NOW_MS, openScripts, redisKeys, requestNumber } from '../open-scripts.ts';
import { openEventReader } from './open-event-reader.ts';

const scripts = openScripts();
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const ask = (number: number, tokens: number, more: Partial<AdmitArguments> = {}) =>
  scripts.admit({
    requestId: requestNumber(number),
    holdMicros: 0,
    tokens: { input: tokens, output: 0, outputLeast: 0, isOutputOpen: false },
    ...more,
  });
const setKeyList = (list: string) => scripts.setKey({ limits: `||${list}|` });
const usageOf = (input: number) => {
  const nothing = { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, thinking: 0, searches: 0 };
  return encodeLedgerUsage({ input, output: 0, ...nothing }, false, DETAILS);
};
const { readEvents, told, toldMarks } = openEventReader(scripts);

describe('a limit of a list', () => {
  it('warns once when an admission brings it to its share, and tells once that it is reached', async () => {
    await setKeyList('t,60000,100,b;');
    await ask(1, 79);
    expect(await told()).toEqual([]);
    await ask(2, 1);
    await ask(3, 1);
    expect(await told()).toEqual(['limit.warning 80']);
    await ask(4, 19);
    await ask(5, 1);
    expect(await readEvents()).toMatchObject([
      { type: 'limit.warning', level: 'key', subjectId: KEY, unit: 'tokens', window: MINUTE_MS },
      { type: 'limit.reached', amount: 100, counted: 100, held: 100, accountId: ACCOUNT },
    ]);
  });

  it('is reached when it refuses a request, even if something is left of it', async () => {
    await setKeyList('t,60000,100,b;');
    await ask(1, 60);
    for (const number of [2, 3, 4]) expect((await ask(number, 50)).kind).toBe('limit');
    expect(await told()).toEqual(['limit.reached 60']);
  });

  it('that only warns does so at its amount', async () => {
    await setKeyList('t,60000,100,w;');
    await ask(1, 90);
    expect(await told()).toEqual([]);
    for (const number of [2, 3]) await ask(number, 90);
    expect(await told()).toEqual(['limit.warning 180']);
  });

  it('tells again in the next window, with another id', async () => {
    await setKeyList('t,60000,100,b;');
    await ask(1, 80);
    await scripts.setClock(NOW_MS + 2 * MINUTE_MS);
    await scripts.send('del', ...(await toldMarks()));
    await ask(2, 80);
    const ids = (await readEvents()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('falls and rises within a window without telling again', async () => {
    await setKeyList('t,60000,100,b;');
    await ask(1, 80);
    await scripts.settle(0, { requestId: requestNumber(1), usage: usageOf(10) });
    await ask(2, 80);
    expect(await told()).toEqual(['limit.warning 80']);
  });

  it('of the calendar tells once a day, and its mark goes with the day', async () => {
    await setKeyList('t,d,100,b;');
    await ask(1, 80);
    const [mark = ''] = await toldMarks();
    // From noon to midnight.
    expect(Number(await scripts.send('pttl', mark))).toBeGreaterThan(DAY_MS / 2 - MINUTE_MS);
    await scripts.setClock(NOW_MS + DAY_MS);
    await ask(2, 80);
    const events = await readEvents();
    expect(events.map(({ type }) => type)).toEqual(['limit.warning', 'limit.warning']);
    expect(events[0]?.id).not.toBe(events[1]?.id);
  });

  it('tells of each level and unit that is crossed, and warns from the share in the settings', async () => {
    await setKeyList('t,60000,100,b;r,60000,2,b;');
    await scripts.setAccount({ limits: 'i,60000,100,b;' });
    await ask(1, 50, { warnAtShare: 0.5 });
    const events = await readEvents();
    expect(events.map(({ level, unit }) => `${level} ${unit}`).sort()).toEqual([
      'account input_tokens',
      'key requests',
      'key tokens',
    ]);
  });

  it('is crossed by a settlement that used more than was held', async () => {
    await setKeyList('t,60000,100,b;');
    const reply = await ask(1, 10);
    const extras = reply.kind === 'admitted' ? reply.extras : '';
    const settled = { requestId: requestNumber(1), usage: usageOf(85), extras };
    await scripts.settle(0, settled);
    await scripts.settle(0, settled);
    expect(await told()).toEqual(['limit.warning 85']);
  });

  it('has the same id when a failover lost the admission and a renewal makes it again', async () => {
    await setKeyList('t,60000,100,b;');
    const reply = await ask(1, 90);
    const [first] = await readEvents();
    await scripts.send('del', redisKeys.events, redisKeys.holds, ...(await toldMarks()));
    await scripts.send('hdel', redisKeys.key(KEY), 'use');
    await ask(2, 1);
    const extras = reply.kind === 'admitted' ? reply.extras : '';
    await scripts.renew(0, { requestId: requestNumber(1), heldMicros: 0, extras });
    const [again] = await readEvents();
    expect(again).toMatchObject({ id: first?.id, type: 'limit.warning', counted: 91 });
  });

  it('does not tell again when an admission is repeated', async () => {
    await setKeyList('t,60000,100,b;');
    await ask(1, 80);
    await scripts.send('del', ...(await toldMarks()));
    await ask(1, 80);
    expect(await told()).toEqual(['limit.warning 80']);
  });

  it('admits and counts although the events cannot be written', async () => {
    await setKeyList('t,60000,100,b;');
    await scripts.send('set', redisKeys.events, 'not a stream');
    expect((await ask(1, 80)).kind).toBe('admitted');
    await scripts.send('del', redisKeys.events);
    expect(await toldMarks()).toEqual([]);
  });

  it('keeps a bounded number of events', async () => {
    await scripts.send('eval', FILL, 1, redisKeys.events, 3_000);
    await setKeyList('t,60000,100,b;');
    await ask(1, 80);
    expect(Number(await scripts.send('xlen', redisKeys.events))).toBeLessThanOrEqual(1_200);
  });
});

describe('a rate', () => {
  it('of a key warns and is reached once in its window', async () => {
    await scripts.setKey({ rpm: 5 });
    for (let number = 1; number <= 3; number++) await ask(number, 0);
    expect(await told()).toEqual([]);
    for (let number = 4; number <= 7; number++) await ask(number, 0);
    expect(await readEvents()).toMatchObject([
      { type: 'limit.warning', level: 'key', unit: 'requests', window: MINUTE_MS, counted: 4 },
      { type: 'limit.reached', level: 'key', subjectId: KEY, amount: 5, counted: 5 },
    ]);
  });

  it('of a plan is told of the account, and by the requests of one run once', async () => {
    await scripts.setAccount({ plan: 'business' });
    const numbers = Array.from({ length: 5 }, (_, i) => ({ requestId: requestNumber(i) }));
    await scripts.admitTogether(numbers);
    expect(await readEvents()).toMatchObject([
      { type: 'limit.reached', level: 'account', subjectId: ACCOUNT, amount: 4, counted: 4 },
    ]);
  });
});

const FILL = "#!lua\nfor i = 1, ARGV[1] do redis.call('XADD', KEYS[1], '*', 'event', i) end";

describe('the monthly cap', () => {
  it('warns and is reached once, by admissions, refusals and settlements', async () => {
    await scripts.setKey({ cap: 100 });
    await ask(1, 0, { holdMicros: 80 });
    await ask(2, 0, { holdMicros: 5, holdLeastMicros: 5 });
    expect(await told()).toEqual(['limit.warning 80']);
    for (const number of [3, 4]) await ask(number, 0, { holdMicros: 50, holdLeastMicros: 50 });
    expect(await readEvents()).toMatchObject([
      { source: 'monthly_cap', level: 'key', unit: 'credits', window: 'month' },
      { type: 'limit.reached', amount: 100, counted: 85 },
    ]);
  });

  it('is told by a renewal that makes a lost hold again', async () => {
    await scripts.setKey({ cap: 100 });
    await scripts.renew(0, { requestId: requestNumber(1), heldMicros: 85 });
    expect(await told()).toEqual(['limit.warning 85']);
  });

  it('is crossed by a charge beyond what was held', async () => {
    await scripts.setKey({ cap: 200 });
    await ask(1, 0, { holdMicros: 10 });
    await scripts.settle(170, { requestId: requestNumber(1) });
    expect(await told()).toEqual(['limit.warning 170']);
  });
});
