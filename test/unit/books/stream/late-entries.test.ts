import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LATE_WITHIN_MAX_MS } from '../../../../src/books/stream/late-entries.ts';

test('the books expect late entries for as long as Redis keeps the marks of requests', () => {
  const money = readFileSync('src/quota/scripts/lua/money.lua', 'utf8');
  const keepS = /local KEEP_S, KEEP_MIN_S = (\d+), /.exec(money)?.[1];
  expect(Number(keepS) * 1000).toBe(LATE_WITHIN_MAX_MS);
});
