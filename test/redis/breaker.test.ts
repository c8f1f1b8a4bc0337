import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { callThrough, createBreaker } from '../../src/redis/breaker.ts';
import { RedisUnavailable } from '../../src/redis/redis-unavailable.ts';

function createTestBreaker(random = () => 0.5) {
  let nowMs = 1_000_000;
  const breaker = createBreaker({ clock: { nowMs: () => nowMs }, random });
  const call = (outcome: 'ok' | 'failed') => {
    const pass = breaker.enter();
    if (pass !== undefined) breaker.leave(pass, outcome);
    return pass !== undefined;
  };
  const passTime = (ms: number) => {
    nowMs += ms;
  };
  const fail = (times: number) => {
    for (let n = 0; n < times; n += 1) call('failed');
  };
  return { breaker, call, fail, passTime };
}

describe('a closed breaker', () => {
  it('opens at the fifth failure in a row', () => {
    const { breaker, fail } = createTestBreaker();
    fail(4);
    expect(breaker.state()).toBe('closed');
    fail(1);
    expect(breaker.state()).toBe('open');
  });

  it('starts to count again after a success', () => {
    const { breaker, call, fail } = createTestBreaker();
    fail(4);
    call('ok');
    fail(4);
    expect(breaker.state()).toBe('closed');
  });

  it('opens when half of enough calls within a second fail', () => {
    const { breaker, call } = createTestBreaker();
    for (let n = 0; n < 9; n += 1) {
      call('ok');
      call('failed');
    }
    call('ok');
    expect(breaker.state()).toBe('closed');
    call('failed');
    expect(breaker.state()).toBe('open');
  });

  it('forgets failures that are more than a second old', () => {
    const { breaker, call, passTime } = createTestBreaker();
    for (let n = 0; n < 9; n += 1) {
      call('ok');
      call('failed');
    }
    passTime(1_000);
    for (let n = 0; n < 3; n += 1) {
      call('ok');
      call('failed');
    }
    expect(breaker.state()).toBe('closed');
  });

  it('stays closed while fewer than half of the calls fail', () => {
    const { breaker, call, passTime } = createTestBreaker();
    for (let n = 0; n < 3_000; n += 1) {
      call(n % 3 === 1 ? 'failed' : 'ok');
      passTime(1);
    }
    expect(breaker.state()).toBe('closed');
  });
});

describe('an open breaker', () => {
  it('lets one call through every 250 ms on average, with jitter around it', () => {
    for (const [random, waitMs] of [
      [0, 125],
      [0.5, 250],
      [1, 375],
    ] as const) {
      const { breaker, call, fail, passTime } = createTestBreaker(() => random);
      fail(5);
      passTime(waitMs - 1);
      expect(breaker.state()).toBe('open');
      expect(call('failed')).toBe(false);
      passTime(1);
      expect(breaker.state()).toBe('half-open');
      expect([call('failed'), call('failed')]).toEqual([true, false]);
    }
  });

  it('is half-open while that call is on its way, and closes when it succeeds', () => {
    const { breaker, fail, passTime } = createTestBreaker();
    fail(5);
    passTime(250);
    const pass = breaker.enter();
    expect(breaker.state()).toBe('half-open');
    expect(breaker.enter()).toBeUndefined();
    if (pass !== undefined) breaker.leave(pass, 'ok');
    expect(breaker.state()).toBe('closed');
  });

  it('opens again when that call fails', () => {
    const { breaker, call, fail, passTime } = createTestBreaker();
    fail(5);
    passTime(250);
    call('failed');
    expect(breaker.state()).toBe('open');
  });

  it('ignores what calls from before it opened report', () => {
    const { breaker, fail } = createTestBreaker();
    const early = breaker.enter();
    fail(5);
    if (early !== undefined) breaker.leave(early, 'ok');
    expect(breaker.state()).toBe('open');
  });

  it('does not stay open when the clock is set back', () => {
    const { breaker, fail, passTime } = createTestBreaker();
    fail(5);
    passTime(-3_600_000);
    expect(breaker.state()).toBe('half-open');
  });
});

it('never refuses for longer than the longest interval between probes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.boolean()), { maxLength: 300 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (steps, random) => {
        const { call, passTime } = createTestBreaker(() => random);
        let refusedMs = 0;
        for (const [waitMs, ok] of steps) {
          passTime(waitMs);
          refusedMs = call(ok ? 'ok' : 'failed') ? 0 : refusedMs + waitMs;
          expect(refusedMs).toBeLessThanOrEqual(375 + 200);
        }
      },
    ),
  );
});

describe('a call through the breaker', () => {
  it('is not made while the breaker is open', async () => {
    const { breaker, fail } = createTestBreaker();
    fail(5);
    const call = vi.fn();
    await expect(callThrough(breaker, call)).rejects.toBeInstanceOf(RedisUnavailable);
    expect(call).not.toHaveBeenCalled();
  });

  it('gives back the result, and passes errors on unchanged', async () => {
    const { breaker } = createTestBreaker();
    expect(await callThrough(breaker, async () => 7)).toBe(7);
    const error = new Error('Command timed out');
    await expect(callThrough(breaker, () => Promise.reject(error))).rejects.toBe(error);
  });

  it.each([
    ['Command timed out', 'open'],
    ['CLUSTERDOWN Hash slot not served', 'open'],
    ['OOM command not allowed', 'closed'],
    ['ERR value is not an integer', 'closed'],
  ])('that fails with "%s" five times leaves the breaker %s', async (message, state) => {
    const { breaker } = createTestBreaker();
    for (let n = 0; n < 5; n += 1) {
      await callThrough(breaker, () => Promise.reject(new Error(message))).catch(() => {});
    }
    expect(breaker.state()).toBe(state);
  });
});
