import { expect, it } from 'vitest';
import type { LimitState } from '../../../../src/protocol/rates/limit-state.ts';
import { encodeResponsesRate } from '../../../../src/protocol/responses/encode-rate.ts';

const RATE = { nowMs: 1_700_000_000_500, limit: 60, left: 59, resetMs: 1_000, windowMs: 60_000 };
const limitOf = (fields: Partial<LimitState>): LimitState => ({
  ...{ level: 'key', unit: 'tokens', window: 'week', amount: 200, left: 150, resetMs: 3_600_000 },
  ...fields,
});

it('shows Codex the two limits that are used up most, with when they are free again', () => {
  const headers = encodeResponsesRate(RATE, [
    limitOf({ unit: 'requests', window: 120_000, amount: 10, left: 9 }),
    limitOf({ unit: 'credits', window: 'month', amount: 3, left: 1 }),
    limitOf({}),
  ]);
  expect(headers).toMatchObject({
    'x-codex-primary-used-percent': '66.7',
    'x-codex-primary-window-minutes': '43200',
    'x-codex-primary-reset-at': '1700003601',
    'x-codex-secondary-used-percent': '25',
    'x-codex-secondary-window-minutes': '10080',
    'x-ratelimit-remaining-requests': '9',
  });
});

it('shows Codex the credits that are left, in the three headers that it reads together', () => {
  const credits = (micros: number) =>
    Object.entries(encodeResponsesRate(RATE, [], micros)).filter(([name]) =>
      name.startsWith('x-codex'),
    );
  expect(credits(12_345_678)).toEqual([
    ['x-codex-credits-has-credits', 'true'],
    ['x-codex-credits-unlimited', 'false'],
    ['x-codex-credits-balance', '12.345678'],
  ]);
  expect(credits(-5).map(([, value]) => value)).toEqual(['false', 'false', '0']);
});

it('says nothing of limits that are not there', () => {
  const names = Object.keys(encodeResponsesRate(RATE, []));
  expect(names.filter((name) => name.startsWith('x-codex'))).toEqual([]);
});
