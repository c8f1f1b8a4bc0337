import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRequestIdMint, minuteOfRequest } from '../../../src/lib/request-id.ts';
import { encodeBase62 } from '../../../src/lib/units/base62.ts';

const MINUTE_MS = 60_000;

it('an id is its minute and digits that are drawn for it alone, however many there were before', () => {
  const mint = createRequestIdMint(randomBytes);
  const ids = new Set<string>();
  fc.assert(
    fc.property(fc.nat({ max: 4e12 }), (nowMs) => {
      const id = mint(nowMs);
      expect(id).toMatch(/^req_[0-9A-Za-z]{24}$/);
      const minute = Math.floor(nowMs / MINUTE_MS);
      expect(id.slice(4, 10)).toBe(encodeBase62(minute, 6));
      expect(minuteOfRequest(id)).toBe(minute * MINUTE_MS);
      expect(ids.has(id.slice(10))).toBe(false);
      ids.add(id.slice(10));
    }),
    { numRuns: 2_000 },
  );
});

it('every digit is drawn, and none much more often than another', () => {
  const mint = createRequestIdMint(randomBytes);
  const counts = new Map<string, number>();
  const digits = Array.from({ length: 10_000 }, () => mint(0).slice(10)).join('');
  for (const digit of digits) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  expect(counts.size).toBe(62);
  const expected = digits.length / 62;
  for (const count of counts.values()) expect(Math.abs(count / expected - 1)).toBeLessThan(0.5);
});
