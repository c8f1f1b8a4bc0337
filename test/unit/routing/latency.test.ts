import { expect, it } from 'vitest';
import { createLatency } from '../../../src/routing/latency.ts';

function createTestLatency() {
  const time = { nowMs: 0 };
  return { time, latency: createLatency({ nowMs: () => time.nowMs }) };
}

it('weighs what was known by half after ten seconds', () => {
  const { time, latency } = createTestLatency();
  expect([latency.averageMs, latency.fadeTo(70)]).toEqual([undefined, 70]);
  latency.note(500);
  time.nowMs += 10_000;
  expect(latency.fadeTo(100)).toBe(300);
  latency.note(100);
  expect(latency.averageMs).toBe(300);
});

it('learns from those who gave up only when they waited for longer than usual', () => {
  const { time, latency } = createTestLatency();
  latency.noteAtLeast(10);
  expect(latency.averageMs).toBeUndefined();
  latency.note(100);
  time.nowMs += 10_000;
  latency.noteAtLeast(10);
  expect(latency.averageMs).toBe(100);
  latency.noteAtLeast(300);
  expect(latency.averageMs).toBe(200);
});

it('keeps what it knows when the clock is set back', () => {
  const { time, latency } = createTestLatency();
  latency.note(100);
  time.nowMs -= 3_600_000;
  expect(latency.fadeTo(50)).toBe(100);
});
