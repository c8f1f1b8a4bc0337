import { expect, it } from 'vitest';
import { readLimitTexts, showLimitTexts } from '../../../src/dashboard/limit-texts.ts';

it('limits are read as they are shown, with any space between them', () => {
  const limits = [
    { unit: 'tokens', amount: 400_000, window: '1m', action: 'block' },
    { unit: 'credits', amount: 2.5, window: 'day', action: 'warn' },
  ] as const;
  const text = 'tokens=400000/1m, credits=2.5/day:warn';
  expect(showLimitTexts(limits)).toBe(text);
  expect(readLimitTexts(text, 'limits')).toEqual(limits);
  expect(readLimitTexts(` ${text.replace(', ', '\n')},`, 'limits')).toEqual(limits);
  expect(readLimitTexts(' ', 'limits')).toEqual([]);
});

it.each(['tokens', 'tokens=1', 'tokens=-1/1m', 'tokens=1/1m:stop', '=1/1m', 'tokens=1e3/1m'])(
  '%s is named as what is no limit',
  (text) => {
    expect(() => readLimitTexts(`tokens=1/1m, ${text}`, 'limits')).toThrow(
      `limits: ${text} is not a limit such as tokens=400000/1m`,
    );
  },
);
