import { expect, test } from 'vitest';
import { LATE_WITHIN_MAX_MS } from '../../../../src/books/stream/late-entries.ts';
import { MARK_TIMES } from '../../../quota/mark-times.ts';

const CLOCKS_DIFFER_MAX_MS = 300_000;

test('the books expect late entries for as long as Redis keeps the marks of requests', () => {
  expect(MARK_TIMES.keptMs).toBe(LATE_WITHIN_MAX_MS);
});

test('a request is settled only while its mark would still be there', () => {
  const { keptMinMs, settledAgeMaxMs } = MARK_TIMES;
  expect(settledAgeMaxMs).toBeLessThanOrEqual(keptMinMs - CLOCKS_DIFFER_MAX_MS);
});
