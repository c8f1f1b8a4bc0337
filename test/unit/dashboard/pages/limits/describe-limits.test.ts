import { describe, expect, it } from 'vitest';
import { describeLimits } from '../../../../../src/dashboard/pages/limits/describe-limits.ts';

const TIME = '2026-11-01T00:00:00.000Z';
const LIMITS = {
  ...{ object: 'key' as const, id: 'k', key: '…abcd', expires_at: null, models: null },
  ...{ rate_window_seconds: 60, rate: null, concurrency: null, in_flight: 2, month: '202611' },
  ...{ monthly_cap: null, spent_this_month: 0.25, held: 0.5 },
  account: {
    ...{ id: 'a', balance: 1, held: 0.5 },
    rate: { limit: 300, remaining: 280, reset_at: TIME },
  },
  limits: [],
};

describe('the limits of a key in words', () => {
  it('say that there is none', () => {
    expect(describeLimits(LIMITS).map(({ text }) => text)).toEqual([
      'No limit of its own',
      '20 of 300 requests in the last 60 s, 280 left',
      '0.25 spent and 0.5 held, without a cap',
      '2, without a limit',
    ]);
  });

  it('count what is held against the cap, like the gateway does', () => {
    const rate = { limit: 10, remaining: 0, reset_at: TIME };
    const limited = describeLimits({ ...LIMITS, rate, monthly_cap: 0.75, concurrency: 4 });
    expect(limited.map(({ used, max }) => [used, max])).toEqual([
      [10, 10],
      [20, 300],
      [0.75, 0.75],
      [2, 4],
    ]);
    expect(limited[2]).toMatchObject({
      title: 'Spend of 2026-11',
      text: '0.25 spent and 0.5 held of 0.75 credits',
    });
  });
});
