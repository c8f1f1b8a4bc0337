import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../src/routing/router.ts';
import { createTestRouter, stateOf, take } from './routing-support.ts';

describe('the load of an upstream', () => {
  /** Ends the calls that are due, so that each upstream has its own time to the first event. */
  function serve(latencies: Readonly<Record<string, number>>, calls: number) {
    const { router, time } = createTestRouter(
      Object.keys(latencies).map((upstream) => ({ upstream })),
    );
    const counts: Record<string, number> = {};
    let open: { lease: Lease; dueMs: number }[] = [];
    const ask = (latencyOf: Readonly<Record<string, number>>, times: number) => {
      for (const name of Object.keys(latencies)) counts[name] = 0;
      for (let n = 0; n < times; n += 1) {
        const lease = take(router);
        counts[lease.upstream] = (counts[lease.upstream] ?? 0) + 1;
        open.push({ lease, dueMs: time.nowMs + (latencyOf[lease.upstream] ?? 0) });
        time.nowMs += 50;
        const [due, later] = [
          open.filter(({ dueMs }) => dueMs <= time.nowMs),
          open.filter(({ dueMs }) => dueMs > time.nowMs),
        ];
        open = later;
        for (const { lease: ended } of due) {
          ended.noteFirstEvent();
          ended.end('ok');
        }
      }
      return counts;
    };
    ask(latencies, calls);
    return { counts, ask, router, time };
  }

  it('counts its latency: the slower of two equals gets clearly less', () => {
    const { counts } = serve({ fast: 100, slow: 1_000 }, 4_000);
    expect(counts['slow']).toBeLessThan(4_000 * 0.35);
    expect(counts['slow']).toBeGreaterThan(0);
  });

  it('is forgiven: an upstream that was slow gets its share again when it is fast', () => {
    const { ask } = serve({ fast: 100, slow: 5_000 }, 2_000);
    ask({ fast: 100, slow: 100 }, 4_000);
    const counts = ask({ fast: 100, slow: 100 }, 4_000);
    expect(counts['slow']).toBeGreaterThan(4_000 * 0.4);
  });

  it('is taken for that of the others when nothing is known of it for long, by all but not at once', () => {
    const { router, time } = serve({ fast: 100, slow: 5_000 }, 2_000);
    time.nowMs += 600_000;
    const idle = router.readStates().reduce((sum, { inFlight }) => sum + inFlight, 0);
    const names = Array.from({ length: 200 }, () => take(router).upstream);
    const slow = names.filter((name) => name === 'slow').length;
    expect(idle).toBeLessThan(200);
    expect(slow).toBeGreaterThan(50);
    expect(slow).toBeLessThan(150);
  });

  const IDLE_CALLS = 4_000;
  /** Seven standard deviations. */
  const MISS_MAX = 7 * Math.sqrt(0.25 / IDLE_CALLS);

  const IDLE = [
    { upstream: 'a', other: 'b' },
    { upstream: 'b', other: 'a' },
  ] as const;

  /**
   * The share of `b` among calls that come one at a time, after one sample of each upstream and
   * after a call to `b` was given up.
   */
  function countIdle(
    samplesMs: { readonly a: number; readonly b: number },
    { laterMs = 0, givenUpMs = 0 } = {},
  ): number {
    const { router, time } = createTestRouter(IDLE);
    for (const { upstream, other } of IDLE) {
      const lease = take(router, new Set([other]));
      time.nowMs += samplesMs[upstream];
      lease.noteFirstEvent();
      lease.end('ok');
    }
    const givenUp = take(router, new Set(['a']));
    time.nowMs += givenUpMs;
    givenUp.end('ignored');
    time.nowMs += laterMs;
    let calls = 0;
    for (let n = 0; n < IDLE_CALLS; n += 1) {
      const lease = take(router);
      lease.end('ignored');
      if (lease.upstream === 'b') calls += 1;
    }
    return calls / IDLE_CALLS;
  }

  it('is its latency while it is idle', () => {
    expect(countIdle({ a: 100, b: 1_000 })).toBe(0);
    expect(countIdle({ a: 1_000, b: 100 })).toBe(1);
  });

  it('is equal again when what is known of the slower one is old', () => {
    const share = countIdle({ a: 100, b: 1_000 }, { laterMs: 600_000 });
    expect(Math.abs(share - 0.5)).toBeLessThan(MISS_MAX);
  });

  it('does not differ by a little latency', () => {
    expect(Math.abs(countIdle({ a: 100, b: 110 }) - 0.5)).toBeLessThan(MISS_MAX);
  });

  it('counts the wait of those who gave up before the first event', () => {
    expect(countIdle({ a: 100, b: 100 }, { givenUpMs: 10_000 })).toBe(0);
    // A client that gives up at once has learnt nothing.
    const share = countIdle({ a: 100, b: 100 }, { givenUpMs: 10 });
    expect(Math.abs(share - 0.5)).toBeLessThan(MISS_MAX);
  });

  it('is not known from those who gave up at once', () => {
    const { router, time } = createTestRouter(IDLE);
    take(router, new Set(['a'])).end('ignored');
    const known = take(router, new Set(['b']));
    time.nowMs += 100;
    known.noteFirstEvent();
    const names = new Set(Array.from({ length: 100 }, () => take(router).upstream));
    expect(names).toEqual(new Set(['a', 'b']));
  });

  it('counts what is in flight, in proportion to the weight', () => {
    const { router } = createTestRouter([
      { upstream: 'heavy', weight: 3 },
      { upstream: 'light', weight: 1 },
    ]);
    for (let n = 0; n < 100; n += 1) {
      take(router, new Set(['heavy'])).noteFirstEvent();
      take(router, new Set(['light'])).noteFirstEvent();
    }
    for (let n = 0; n < 100; n += 1) expect(take(router).upstream).toBe('heavy');
  });

  it('keeps calls away from an upstream that hangs, long before they fail', () => {
    const { router } = createTestRouter([{ upstream: 'hangs' }, { upstream: 'works' }]);
    for (let n = 0; n < 1_000; n += 1) {
      const lease = take(router);
      if (lease.upstream === 'works') lease.end('ok');
    }
    expect(stateOf(router, 'hangs').inFlight).toBe(1);
  });
});
