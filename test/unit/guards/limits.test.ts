import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMinuteLimiter } from '../../../src/guards/create-minute-limiter.ts';
import { createFailedKeyGuard } from '../../../src/guards/guard-failed-keys.ts';
import { createFreeCallGuard } from '../../../src/guards/guard-free-calls.ts';

const KEYS_MAX = 10_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the guard of failed keys', () => {
  it('lets an address fail so often in a minute, then tells when that minute ends', () => {
    const guard = createFailedKeyGuard({ perMinuteMax: 3 });
    guard.noteFailure('a');
    vi.advanceTimersByTime(20_000);
    guard.noteFailure('a');
    expect(guard.retryAfterMs('a')).toBe(0);
    guard.noteFailure('a');
    expect(guard.retryAfterMs('a')).toBe(40_000);
    vi.advanceTimersByTime(39_999);
    expect(guard.retryAfterMs('a')).toBe(1);
    vi.advanceTimersByTime(1);
    expect(guard.retryAfterMs('a')).toBe(0);
  });

  it('keeps nobody waiting who does not fail, nor for the failures of others', () => {
    const guard = createFailedKeyGuard({ perMinuteMax: 1 });
    guard.noteFailure('a');
    for (let i = 0; i < 10; i += 1) expect(guard.retryAfterMs('b')).toBe(0);
    expect(guard.retryAfterMs('a')).toBe(60_000);
  });

  it('does not make those wait longer who go on failing', () => {
    const guard = createFailedKeyGuard({ perMinuteMax: 1 });
    guard.noteFailure('a');
    vi.advanceTimersByTime(59_000);
    for (let i = 0; i < 100; i += 1) guard.noteFailure('a');
    expect(guard.retryAfterMs('a')).toBe(1_000);
  });
});

describe('the guard of free calls', () => {
  it('takes so many calls of a key in a minute, exactly, even all in one turn', () => {
    const guard = createFreeCallGuard({ perMinuteMax: 600 });
    const waits = Array.from({ length: 1_000 }, () => guard.take('key_1'));
    expect(waits.filter((ms) => ms === 0)).toHaveLength(600);
    expect(waits.at(-1)).toBe(60_000);
    expect(guard.take('key_2')).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect(guard.take('key_1')).toBe(0);
  });
});

describe('a limiter of one worker', () => {
  it('drops the oldest minutes for a new key when it has as many as it may', () => {
    const limiter = createMinuteLimiter({ perMinuteMax: 1 });
    for (let i = 0; i < KEYS_MAX; i += 1) limiter.count(`key ${i}`);
    limiter.count('key 5');
    expect(limiter.waitMs('key 0')).toBe(60_000);
    limiter.count('one more');
    expect(limiter.waitMs('key 0')).toBe(0);
    expect(limiter.waitMs('key 99')).toBe(0);
    expect(limiter.waitMs('key 100')).toBe(60_000);
    expect(limiter.waitMs('one more')).toBe(60_000);
  });

  it('leaves nothing behind of the minutes that were dropped or are over', () => {
    const full = createMinuteLimiter({ perMinuteMax: 1 });
    for (let i = 0; i < 2 * KEYS_MAX; i += 1) full.count(`key ${i}`);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(KEYS_MAX);
    vi.clearAllTimers();
    const limiter = createMinuteLimiter({ perMinuteMax: 1 });
    for (let i = 0; i < 10; i += 1) limiter.count(`key ${i}`);
    expect(vi.getTimerCount()).toBe(10);
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
