import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLimits, encodeLimits } from '../../../src/limits/encode-limits.ts';
import {
  CALENDAR_WINDOWS,
  LIMIT_ACTIONS,
  LIMIT_UNITS,
  type Limit,
} from '../../../src/limits/limit.ts';
import { parseLimit } from '../../../src/limits/parse-limit.ts';
import { formatWindow, parseWindow } from '../../../src/limits/parse-window.ts';

const window = fc.oneof(
  fc.integer({ min: 1, max: 31 * 86_400 }).map((seconds) => seconds * 1_000),
  fc.constantFrom(...CALENDAR_WINDOWS),
);
const limit: fc.Arbitrary<Limit> = fc.record({
  unit: fc.constantFrom(...LIMIT_UNITS),
  window,
  amount: fc.maxSafeNat().map((amount) => Math.floor(amount / 1_000_000)),
  action: fc.constantFrom(...LIMIT_ACTIONS),
});

describe('a window', () => {
  it('is read back from its shortest text', () => {
    fc.assert(
      fc.property(window, (each) => {
        expect(parseWindow(formatWindow(each))).toBe(each);
      }),
    );
    expect(formatWindow(18_000_000)).toBe('5h');
    expect(formatWindow(90_000)).toBe('90s');
  });

  it.each(['', '0s', '1', 'm', '-1m', '1.5h', '01m', '32d', '1w', 'Day', '999999999999s', '1m '])(
    'is not %j',
    (text) => expect(parseWindow(text)).toBeUndefined(),
  );
});

describe('a limit', () => {
  it('is read back from what the store has', () => {
    fc.assert(
      fc.property(fc.array(limit), (list) => {
        expect(decodeLimits(encodeLimits(list))).toEqual(list);
      }),
    );
  });

  it('is written as people say it', () => {
    expect(parseLimit('tokens=400000/1m')).toEqual({
      ...{ unit: 'tokens', window: 60_000, amount: 400_000, action: 'block' },
    });
    expect(parseLimit('credits=2.5/day:warn')).toEqual({
      ...{ unit: 'credits', window: 'day', amount: 2_500_000, action: 'warn' },
    });
  });

  it.each([
    ...[
      'tokens',
      'tokens=',
      'tokens=1',
      'tokens=1/',
      'tokens=1.5/1m',
      'tokens=-1/1m',
      'words=1/1m',
    ],
    ...[
      'tokens=1/1m:stop',
      'credits=0.0000001/day',
      'tokens=1e9/1m',
      'tokens=99999999999999999/1m',
    ],
  ])('is not %j', (text) => expect(parseLimit(text)).toBeUndefined());

  it('that a later version wrote is left out', () => {
    expect(decodeLimits('x,60000,1,b;t,60000,5,b;')).toHaveLength(1);
  });
});
