import { describe, expect, it } from 'vitest';
import { retryAfterHeaders } from '../../../src/protocol/rates/retry-after-headers.ts';
import { refuseAdmission } from '../../../src/quota/refuse-admission.ts';

const rate = { nowMs: 0, limit: 60, left: 0, resetMs: 60_000, windowMs: 60_000 };
const caller = { maskedKey: 'sk-gw2-…abcd', model: 'llm-opus-4.7' };

describe('a refused admission', () => {
  it.each([
    [{ kind: 'unknown' }, 401, 'invalid x-api-key'],
    [{ kind: 'revoked' }, 401, 'This API key has been revoked.'],
    [{ kind: 'expired' }, 401, 'This API key has expired.'],
    [{ kind: 'suspended' }, 403, 'The account of this API key is suspended.'],
    [{ kind: 'model' }, 403, 'may not use the model llm-opus-4.7'],
    [
      { kind: 'cap', rate, capMicros: 5_000_000, spentMicros: 4_000_000, heldMicros: 500_000 },
      402,
      'of 5 credits, 4 spent and 0.5 held',
    ],
    [
      { kind: 'balance', rate, balanceMicros: 1, heldMicros: 0 },
      402,
      'Your credit balance is too low',
    ],
  ] as const)('that waiting does not mend says so: %j', (reply, status, text) => {
    const refusal = refuseAdmission(reply, caller);
    expect(refusal.status).toBe(status);
    expect(refusal.message).toContain(text);
    expect(refusal.headers).toEqual({ 'x-should-retry': 'false' });
  });

  it('names the owner of the limit and tells the wait', () => {
    const refusal = refuseAdmission({ kind: 'rate', rate, scope: 'key', waitMs: 12_345 }, caller);
    expect(refusal).toMatchObject({
      status: 429,
      message:
        'This request would exceed the limit of this API key, 60 requests per minute. Try again in 12.345 seconds.',
      headers: { 'retry-after': '13', 'retry-after-ms': '12345' },
    });
    const shorter = { ...rate, windowMs: 2_000 };
    expect(
      refuseAdmission({ kind: 'rate', rate: shorter, scope: 'account', waitMs: 1 }, caller).message,
    ).toContain('limit of this account, 60 requests per 2 seconds');
  });

  it('tells a key with too many requests at once to come again soon', () => {
    expect(refuseAdmission({ kind: 'in_flight', rate, inFlightMax: 2 }, caller)).toMatchObject({
      status: 429,
      refusal: 'too_many_at_once',
      headers: { 'retry-after': '1', 'retry-after-ms': '1000' },
    });
  });

  it('asks for another try if the hold ran out before its request could begin', () => {
    const refusal = refuseAdmission({ kind: 'finished' }, caller);
    expect(refusal).toMatchObject({
      ...{ status: 503, refusal: 'unavailable' },
      headers: { 'retry-after': '1', 'retry-after-ms': '1000' },
    });
    expect(refusal.message).toContain('Nothing was charged');
  });

  // Client libraries stop waiting if a message about a rate mentions billing.
  it.each(['key', 'account'] as const)(
    'says nothing of money where it is about the rate: %s',
    (scope) => {
      const { message } = refuseAdmission({ kind: 'rate', rate, scope, waitMs: 5 }, caller);
      expect(message).not.toMatch(/billing|quota|credit|will reset at/i);
    },
  );
});

describe('the wait in headers', () => {
  it.each([
    [0, '1', '1'],
    [1, '1', '1'],
    [1_000, '1', '1000'],
    [1_001, '2', '1001'],
    [59_000, '59', '59000'],
    [59_001, '59', '59001'],
    [60_000, '59', '59999'],
  ])('of %i ms is rounded up and stays below a minute', (waitMs, seconds, ms) => {
    expect(retryAfterHeaders(waitMs)).toEqual({ 'retry-after': seconds, 'retry-after-ms': ms });
  });
});
