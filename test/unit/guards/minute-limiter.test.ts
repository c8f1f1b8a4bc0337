import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMinuteLimiter } from '../../../src/guards/minute-limiter.ts';

const KEYS_MAX = 10_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a limiter of one worker', () => {
  it('drops the oldest minutes for a new key when it has as many as it may', async () => {
    const limiter = createMinuteLimiter({ perMinuteMax: 1 });
    for (let i = 0; i < KEYS_MAX; i += 1) await limiter.take(`key ${i}`);
    expect(await limiter.take('key 5')).toBe(60_000);
    expect(await limiter.take('key 0')).toBe(60_000);
    expect(await limiter.take('one more')).toBe(0);
    expect(await limiter.take('key 100')).toBe(60_000);
    expect(await limiter.take('one more')).toBe(60_000);
    for (const key of ['key 0', 'key 99']) expect(await limiter.take(key)).toBe(0);
  });

  it('counts a minute as new that begins again', async () => {
    const limiter = createMinuteLimiter({ perMinuteMax: 1 });
    await limiter.take('again');
    vi.advanceTimersByTime(60_000);
    for (let i = 0; i < 100; i += 1) await limiter.take(`key ${i}`);
    await limiter.take('again');
    for (let i = 101; i < KEYS_MAX; i += 1) await limiter.take(`key ${i}`);
    await limiter.take('one more');
    expect(await limiter.take('key 0')).toBe(0);
    expect(await limiter.take('again')).toBe(60_000);
  });

  it('leaves nothing behind of the minutes that were dropped or are over', async () => {
    const full = createMinuteLimiter({ perMinuteMax: 1 });
    for (let i = 0; i < 2 * KEYS_MAX; i += 1) await full.take(`key ${i}`);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(KEYS_MAX);
    vi.clearAllTimers();
    const limiter = createMinuteLimiter({ perMinuteMax: 1 });
    for (let i = 0; i < 10; i += 1) await limiter.take(`key ${i}`);
    expect(vi.getTimerCount()).toBe(10);
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
