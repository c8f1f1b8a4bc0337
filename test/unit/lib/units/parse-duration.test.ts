import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../../../src/lib/units/parse-duration.ts';

describe('parseDuration', () => {
  it('reads each unit as milliseconds', () => {
    expect(['500ms', '2s', '10m', '24h', '90d', '0s'].map(parseDuration)).toEqual([
      500, 2_000, 600_000, 86_400_000, 7_776_000_000, 0,
    ]);
  });

  it('refuses what is not a whole number with a unit', () => {
    for (const text of ['', '10', 's', '1.5s', '-1s', ' 1s', '1 s', '1S', '1w', '01s', '1e3s']) {
      expect(() => parseDuration(text), text).toThrow('must be a duration such as 500ms');
    }
  });

  it('refuses what a number cannot hold exactly', () => {
    expect(() => parseDuration('9007199254740992ms')).toThrow('is too long');
    expect(() => parseDuration('9007199254740h')).toThrow('is too long');
  });

  it('gives back what formatDuration wrote', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });
});

describe('formatDuration', () => {
  it('uses the largest unit that loses nothing', () => {
    expect([0, 1, 1_500, 90_000, 120_000, 7_200_000, 86_400_000].map(formatDuration)).toEqual([
      '0s',
      '1ms',
      '1500ms',
      '90s',
      '2m',
      '2h',
      '1d',
    ]);
  });
});
