import { describe, expect, it } from 'vitest';
import { explainRefusal } from '../../../../src/dashboard/key-page/explain-refusal.ts';
import { listKeyFacts } from '../../../../src/dashboard/key-page/list-key-facts.ts';

const RATE = { limit: 300, remaining: 299, reset_at: '2027-01-31T12:00:00.000Z' };
const INFO = {
  id: 'key_1',
  key: 'sk-gw2-…wxyz',
  expires_at: null,
  rate_window_seconds: 60,
  rate: null,
  concurrency: null,
  in_flight: 2,
  month: '202701',
  monthly_cap: null,
  spent_this_month: 1.000001,
  held: 0.5,
  account: { id: 'acct_1', balance: 1234.5, held: 0.75, rate: RATE },
  limits: [],
};

const describeAll = (info: Parameters<typeof listKeyFacts>[0]) =>
  Object.fromEntries(listKeyFacts(info).map(({ name, value }) => [name, value]));

describe('what a key is said to have', () => {
  it('tells of a key without limits of its own that there are none', () => {
    expect(describeAll(INFO)).toEqual({
      'Balance, in credits': '1,234.5',
      'Held by running requests': '0.75',
      'Spent in January 2027, UTC': '1.000001',
      'Monthly cap': 'any',
      'Account: requests left, 60 s': '299 of 300',
      'Requests at once': '2 of any',
      Ends: 'never',
      Key: 'sk-gw2-…wxyz, key_1',
      Account: 'acct_1',
    });
  });

  it('shows a cap of nothing as 0, and the end in the time of the browser', () => {
    const limited = describeAll({
      ...INFO,
      ...{ monthly_cap: 0, concurrency: 3, rate: { ...RATE, limit: 7, remaining: 0 } },
      expires_at: '2027-06-15T12:00:00.000Z',
    });
    expect(limited).toMatchObject({
      'Monthly cap': '0',
      'Requests at once': '2 of 3',
      'Key: requests left, 60 s': '0 of 7',
      Ends: expect.stringContaining('Jun 2027'),
    });
  });
});

describe('why a key is not shown', () => {
  it.each([
    [{ status: 401, message: 'invalid x-api-key' }, /^This gateway does not know the key\./],
    [
      { status: 401, message: 'This API key has expired.' },
      /^This API key has expired\. Ask whoev/,
    ],
    [{ status: 429, message: 'Too many.', retryAfter: '7' }, /^Too many\. Try again in 7 s\.$/],
    [{ status: 503, message: 'out', retryAfter: '1' }, /^Out\. Try again in 1 s\.$/],
    [{ status: 403, message: 'The account is suspended.' }, /^The account is suspended\.$/],
    [{ status: 0, message: 'not reached' }, /^Not reached\. Try again in a moment\.$/],
  ])('is said in whole sentences: %j', (facts, words) => {
    expect(explainRefusal(facts)).toMatch(words);
  });
});
