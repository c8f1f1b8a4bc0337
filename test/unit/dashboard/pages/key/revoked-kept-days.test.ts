import { expect, it } from 'vitest';
import { REVOKED_KEPT_MS } from '../../../../../src/books/duties/forget-old-counters.ts';
import { REVOKED_KEPT_DAYS } from '../../../../../src/dashboard/pages/key/revoked-kept-days.ts';

it('the page says how long the node keeps the record of a revoked key', () => {
  expect(REVOKED_KEPT_DAYS * 86_400_000).toBe(REVOKED_KEPT_MS);
});
