import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBoundedCache } from '../../../../src/lib/collections/bounded-cache.ts';

function createTimedCache({ keepMs = 100, entriesMax = 3 } = {}) {
  const time = { nowMs: 1_000 };
  const cache = createBoundedCache<number>({
    clock: { nowMs: () => time.nowMs },
    keepMs,
    entriesMax,
  });
  return { cache, time };
}

describe('a bounded cache', () => {
  it('forgets an entry when its time is over, however often it was asked for', () => {
    const { cache, time } = createTimedCache();
    cache.set('a', 1);
    time.nowMs += 99;
    expect(cache.get('a')).toBe(1);
    time.nowMs += 1;
    expect(cache.get('a')).toBeUndefined();
  });

  it('counts an entry that is set again as new', () => {
    const { cache, time } = createTimedCache();
    cache.set('a', 1);
    time.nowMs += 60;
    cache.set('a', 2);
    time.nowMs += 60;
    expect(cache.get('a')).toBe(2);
  });

  it('keeps no entry for longer because the clock was set back', () => {
    const { cache, time } = createTimedCache();
    cache.set('a', 1);
    time.nowMs -= 500;
    expect(cache.get('a')).toBeUndefined();
  });

  it('makes room by dropping what was not used for the longest time', () => {
    const { cache } = createTimedCache();
    for (const [value, key] of ['a', 'b', 'c'].entries()) cache.set(key, value);
    cache.get('a');
    cache.set('d', 3);
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key))).toEqual([0, undefined, 2, 3]);
  });

  it('keeps what is in use, however many others come and go', () => {
    const { cache } = createTimedCache({ entriesMax: 1_000 });
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    for (let i = 0; i < 5_000; i++) {
      cache.set(`other ${i}`, i);
      if (i % 7 === 0) expect(['a', 'b'].map((key) => cache.get(key))).toEqual([1, 1]);
    }
    expect(cache.get('c')).toBeUndefined();
  });

  it('holds the last distinct keys, as a list that is searched would', () => {
    const step = fc.record({ key: fc.constantFrom(...'abcdef'), isSet: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { cache } = createTimedCache();
        let used: string[] = [];
        for (const { key, isSet } of steps) {
          const isKnown = used.includes(key);
          if (isSet) cache.set(key, key.charCodeAt(0));
          else expect(cache.get(key)).toBe(isKnown ? key.charCodeAt(0) : undefined);
          if (isSet || isKnown) used = [...used.filter((other) => other !== key), key].slice(-3);
        }
      }),
    );
  });
});
