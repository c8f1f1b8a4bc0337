import { describe, expect, it } from 'vitest';
import { decodeEvent, type LimitEvent } from '../../../../src/events/limit-event.ts';
import { openLists } from '../list-scene.ts';
import { redisKeys } from '../open-scripts.ts';

const { scripts, ask, setKeyList } = openLists();

const readLast = async (): Promise<LimitEvent> => {
  const reply = await scripts.send('xrevrange', redisKeys.events, '+', '-', 'COUNT', 1);
  const [[, fields]] = reply as [[string, string[]]];
  return decodeEvent(String(fields[1])) as LimitEvent;
};
describe('a bucket that is full of events', () => {
  const FILL = `for number = 1, 1000 do redis.call('XADD', KEYS[1], number .. '-0', 'event', 'x') end`;
  const { events, eventsTaken } = redisKeys;
  const lost = async () => Number(await scripts.send('hget', eventsTaken, 'lost'));

  it('pushes out the oldest for each new one, and counts those that the list never had', async () => {
    await setKeyList('t,d,100,b;');
    await scripts.send('eval', FILL, 1, events);
    await scripts.send('hset', eventsTaken, 'place', '1-0', 'lost', 0);
    await ask(1, 80);
    expect(await lost()).toBe(0);
    await ask(2, 20);
    expect(await lost()).toBe(1);
    expect(await scripts.send('xlen', events)).toBe(1_000);
    const [[oldest]] = (await scripts.send('xrange', events, '-', '+', 'COUNT', 1)) as [[string]];
    expect(oldest).toBe('3-0');
  });

  it('counts all of them if no node has ever taken any', async () => {
    await setKeyList('t,d,100,b;');
    await scripts.send('eval', FILL, 1, events);
    await scripts.send('xadd', events, '1001-0', 'event', 'x');
    await ask(1, 80);
    expect(await lost()).toBe(2);
    expect(await scripts.send('xlen', events)).toBe(1_000);
  });

  it('is admitted to, whatever stands where the losses are counted', async () => {
    await setKeyList('t,d,100,b;');
    await scripts.send('eval', FILL, 1, events);
    await scripts.send('set', eventsTaken, 'x');
    expect((await ask(1, 80)).kind).toBe('admitted');
    expect((await readLast()).type).toBe('limit.warning');
  });
});
