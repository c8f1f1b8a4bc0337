import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { monthOf } from '../../../src/lib/time/month.ts';
import { openScripts } from './open-scripts.ts';

const scripts = openScripts();
const NUMBERS = ['numbers', 'month']
  .map((part) => readFileSync(`src/quota/scripts/lua/${part}.lua`, 'utf8'))
  .join('');
const DAY_MS = 86_400_000;
const DAYS_UNTIL_2100 = Date.UTC(2100, 0) / DAY_MS;

const run = (body: string, ...args: readonly (string | number)[]) =>
  scripts.send('eval', `${NUMBERS}\n${body}`, 0, ...args);

const monthsOf = (times: readonly number[]) =>
  run(
    'local months = {} for i, ms in ipairs(ARGV) do months[i] = month_of(tonumber(ms)) end return months',
    ...times,
  );

describe('the month of a time', () => {
  it('is that of the calendar on every day from 1970 to 2099', async () => {
    for (let first = 0; first < DAYS_UNTIL_2100; first += 5_000) {
      const days = Array.from({ length: 5_000 }, (_, n) => (first + n) * DAY_MS);
      expect(await monthsOf(days)).toEqual(days.map(monthOf));
    }
  });

  it.each([1970, 1999, 2000, 2024, 2026, 2027, 2028, 2096, 2099, 2100, 2400])(
    'changes with the millisecond in %i',
    async (year) => {
      const edges = Array.from({ length: 13 }, (_, month) => Date.UTC(year, month));
      const times = edges.flatMap((ms) => [Math.max(ms - 1, 0), ms]);
      expect(await monthsOf(times)).toEqual(times.map(monthOf));
    },
  );

  it('knows the days of leap years', async () => {
    const days = [2000, 2024, 2096, 2100, 2400].flatMap((year) =>
      [28, 29, 30].map((day) => Date.UTC(year, 1, day)),
    );
    expect(await monthsOf(days)).toEqual(days.map(monthOf));
  });
});

describe('a whole number', () => {
  it.each([
    '0',
    '1',
    '-1',
    '99999999999999',
    '100000000000000',
    '123456789012345',
    '8000000000000000',
    '9007199254740991',
    '-9007199254740991',
  ])('%s is written with all its digits', async (text) => {
    expect(await run('return whole(tonumber(ARGV[1]))', text)).toBe(text);
  });

  it('has no sign when it is nothing', async () => {
    expect(await run('return whole(-1 * tonumber(ARGV[1]))', 0)).toBe('0');
  });

  it('is nothing where a field is absent', async () => {
    expect(await run("return whole(number(redis.call('HGET', 'absent', 'field')))")).toBe('0');
  });
});
