import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFreeCallGuard } from '../../../src/guards/free-call-guard.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the guard of free calls', () => {
  it('takes so many calls of a key in a minute, exactly, even all in one turn', async () => {
    const guard = createFreeCallGuard({ perMinuteMax: 600 });
    const waits = await Promise.all(Array.from({ length: 1_000 }, () => guard.take('key_1')));
    expect(waits.filter((ms) => ms === 0)).toHaveLength(600);
    expect(waits.at(-1)).toBe(60_000);
    expect(await guard.take('key_2')).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(await guard.take('key_1')).toBe(0);
  });
});
