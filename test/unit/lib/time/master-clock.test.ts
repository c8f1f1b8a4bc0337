import { expect, test } from 'vitest';
import { createMasterClock } from '../../../../src/lib/time/master-clock.ts';

const HALF_AN_HOUR_MS = 1_800_000;

test('a clock of masters goes on as they answer, and stands still while none does', () => {
  let nowMs = 0;
  const served = createMasterClock({ nowMs: () => nowMs });
  nowMs = 1_000;
  served.noteSame(1_000);
  expect(served.nowMs()).toBe(1_000);
  nowMs += HALF_AN_HOUR_MS;
  expect(served.nowMs()).toBe(1_000);
  // A master that took over is another one, which answers from now on.
  served.noteSame(0);
  nowMs += 500;
  served.noteSame(500);
  expect(served.nowMs()).toBe(1_500);
});

test('a clock of masters goes on after half an hour without one', () => {
  let nowMs = 0;
  const served = createMasterClock({ nowMs: () => nowMs });
  nowMs = HALF_AN_HOUR_MS + 7;
  expect(served.nowMs()).toBe(7);
  served.noteSame(1);
  expect(served.nowMs()).toBe(8);
});
