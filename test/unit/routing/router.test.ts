import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/upstream/simulated/random.ts';
import { breakUpstream, createTestRouter, MODEL, NONE, stateOf, take } from './routing-support.ts';

describe('the choice among upstreams', () => {
  it('prefers the best priority, however heavy the next one is', () => {
    const { router } = createTestRouter([
      { upstream: 'spare', priority: 2, weight: 100 },
      { upstream: 'main', priority: 1, weight: 1 },
    ]);
    const names = Array.from({ length: 50 }, () => take(router).upstream);
    expect(new Set(names)).toEqual(new Set(['main']));
  });

  it('goes on to the next priority when the best is full, and back when it has a place', () => {
    const { router } = createTestRouter([
      { upstream: 'main', concurrencyMax: 2 },
      { upstream: 'spare', priority: 2 },
    ]);
    const leases = [take(router), take(router), take(router)];
    expect(leases.map(({ upstream }) => upstream)).toEqual(['main', 'main', 'spare']);
    leases[0]?.end('ok');
    expect(take(router).upstream).toBe('main');
  });

  it('goes on to the next priority when the best is broken, and back when a probe succeeds', () => {
    const { router, time } = createTestRouter([
      { upstream: 'main' },
      { upstream: 'spare', priority: 2 },
    ]);
    breakUpstream(router, 'main');
    expect(take(router).upstream).toBe('spare');
    time.nowMs += stateOf(router, 'main').restMs;
    const probe = take(router);
    expect([probe.upstream, take(router).upstream]).toEqual(['main', 'spare']);
    probe.noteFirstEvent();
    expect(take(router).upstream).toBe('main');
  });

  it('sends nobody after a probe that hangs while another upstream is well', () => {
    const { router, time } = createTestRouter([
      { upstream: 'main' },
      { upstream: 'spare', priority: 2, concurrencyMax: 1 },
    ]);
    breakUpstream(router, 'main');
    time.nowMs += stateOf(router, 'main').restMs;
    const probe = take(router);
    time.nowMs += 60_000;
    expect([probe.upstream, take(router).upstream]).toEqual(['main', 'spare']);
    // The other one is full.
    expect(take(router).upstream).toBe('main');
    probe.noteFirstEvent();
    expect(take(router).upstream).toBe('main');
  });

  it('sends nobody after a probe that hangs if another upstream has only denied the model', () => {
    const { router, time } = createTestRouter([
      { upstream: 'main' },
      { upstream: 'spare', priority: 2 },
    ]);
    breakUpstream(router, 'main');
    time.nowMs += stateOf(router, 'main').restMs;
    take(router);
    time.nowMs += 60_000;
    take(router).end('denied');
    expect(take(router).upstream).toBe('spare');
  });

  it('sends the first call after a pause to the upstream as a probe, whatever its weight', () => {
    const { router, time } = createTestRouter([
      { upstream: 'rare', weight: 1 },
      { upstream: 'main', weight: 1_000_000 },
    ]);
    const others = new Set(['main']);
    while (stateOf(router, 'rare').health === 'closed') take(router, others).end('failed');
    time.nowMs += stateOf(router, 'rare').restMs;
    expect(take(router).upstream).toBe('rare');
    expect(take(router).upstream).toBe('main');
  });

  it('prefers others to an upstream that denied the model, until that is a while ago', () => {
    const { router, time } = createTestRouter([
      { upstream: 'main' },
      { upstream: 'spare', priority: 2 },
    ]);
    take(router).end('denied');
    expect(stateOf(router, 'main').health).toBe('closed');
    expect(take(router).upstream).toBe('spare');
    expect(take(router, new Set(['none'])).upstream).toBe('spare');
    expect(take(router, new Set(['spare'])).upstream).toBe('main');
    time.nowMs += 30_000;
    expect(take(router).upstream).toBe('main');
  });

  it('is not moved by the denials of one client while others are served', () => {
    const { router, time } = createTestRouter([
      { upstream: 'main' },
      { upstream: 'spare', priority: 2 },
    ]);
    take(router).noteFirstEvent();
    for (let n = 0; n < 20; n += 1) {
      time.nowMs += 1_000;
      take(router).end('denied');
      const other = take(router);
      expect(other.upstream).toBe('main');
      other.noteFirstEvent();
    }
  });

  it('returns to an upstream that denied the model as soon as that has served anybody', () => {
    const { router } = createTestRouter([{ upstream: 'main' }, { upstream: 'spare', priority: 2 }]);
    const slow = take(router);
    take(router).end('denied');
    expect(take(router).upstream).toBe('spare');
    slow.noteFirstEvent();
    expect(take(router).upstream).toBe('main');
  });

  it('does not risk a second try on a probe while another upstream is known to be well', () => {
    const { router, time } = createTestRouter([
      { upstream: 'main' },
      { upstream: 'failed' },
      { upstream: 'spare', priority: 2 },
    ]);
    const others = new Set(['failed', 'spare']);
    while (stateOf(router, 'main').health === 'closed') take(router, others).end('failed');
    time.nowMs += stateOf(router, 'main').restMs;
    expect(take(router, new Set(['failed'])).upstream).toBe('spare');
    expect(take(router, new Set(['failed', 'spare'])).upstream).toBe('main');
  });

  it('never answers with an excluded upstream', () => {
    const { router } = createTestRouter([{ upstream: 'a' }, { upstream: 'b' }]);
    for (let n = 0; n < 50; n += 1) expect(take(router, new Set(['a'])).upstream).toBe('b');
    expect(router.choose(MODEL, new Set(['a', 'b']))).toMatchObject({ why: 'excluded' });
  });

  it('knows no route for a model that it does not know', () => {
    const { router } = createTestRouter([{ upstream: 'a' }]);
    expect(router.choose('other', NONE)).toMatchObject({ kind: 'none', why: 'excluded' });
  });

  it('shares an upstream among the models that lead to it', () => {
    const { router } = createTestRouter([{ upstream: 'a', concurrencyMax: 1 }]);
    const lease = take(router);
    expect(router.choose(MODEL, NONE)).toMatchObject({ why: 'full' });
    lease.end('ok');
    expect(router.choose(MODEL, NONE)).toMatchObject({ kind: 'lease' });
  });

  it('follows the weights among equals: every share is within seven standard deviations', () => {
    const calls = 4_000;
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 6 }),
        fc.integer(),
        (weights, seed) => {
          const routes = weights.map((weight, index) => ({ upstream: `u${index}`, weight }));
          const { router } = createTestRouter(routes, createRandom(seed));
          const counts = new Map<string, number>();
          for (let n = 0; n < calls; n += 1) {
            const lease = take(router);
            counts.set(lease.upstream, (counts.get(lease.upstream) ?? 0) + 1);
            lease.noteFirstEvent();
            lease.end('ok');
          }
          const sum = weights.reduce((total, weight) => total + weight, 0);
          for (const { upstream, weight } of routes) {
            const share = weight / sum;
            const deviation = Math.sqrt(calls * share * (1 - share));
            const miss = Math.abs((counts.get(upstream) ?? 0) - calls * share);
            expect(miss).toBeLessThanOrEqual(7 * deviation + 1e-6);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('why there is no route', () => {
  it('is that all are full, while one that is well has no place', () => {
    const { router } = createTestRouter([
      { upstream: 'a', concurrencyMax: 1 },
      { upstream: 'b', priority: 2 },
    ]);
    const others = new Set(['a']);
    while (stateOf(router, 'b').health === 'closed') take(router, others).end('failed');
    take(router);
    expect(router.choose(MODEL, NONE)).toMatchObject({ kind: 'none', why: 'full' });
  });

  it('is that all rest, until the first of them does no more', () => {
    const { router, time } = createTestRouter([{ upstream: 'a' }, { upstream: 'b' }]);
    take(router, new Set(['b'])).end('overloaded', 9_000);
    take(router, new Set(['a'])).end('overloaded', 4_000);
    expect(router.choose(MODEL, NONE)).toEqual({
      kind: 'none',
      why: 'resting',
      retryAfterMs: 4_000,
    });
    time.nowMs += 4_000;
    expect(take(router).upstream).toBe('b');
  });
});

it('leaves a dead upstream within one second of traffic, and takes it back when it lives again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 40, max: 1_000 }), fc.integer(), (callsPerSecond, seed) => {
      const { router, time } = createTestRouter(
        [{ upstream: 'dead' }, { upstream: 'well' }],
        createRandom(seed),
      );
      const called = { dead: 0, well: 0 };
      const passSeconds = (seconds: number, isDead: boolean) => {
        called.dead = 0;
        for (let n = 0; n < seconds * callsPerSecond; n += 1) {
          time.nowMs += 1_000 / callsPerSecond;
          const lease = take(router);
          called[lease.upstream as keyof typeof called] += 1;
          if (lease.upstream === 'well' || !isDead) lease.noteFirstEvent();
          lease.end(lease.upstream === 'well' || !isDead ? 'ok' : 'failed');
        }
        return called.dead;
      };
      passSeconds(1, false);
      passSeconds(1, true);
      expect(stateOf(router, 'dead').health).not.toBe('closed');
      expect(passSeconds(10, true)).toBeLessThanOrEqual(6);
      passSeconds(11, false);
      expect(stateOf(router, 'dead').health).toBe('closed');
      expect(passSeconds(10, false)).toBeGreaterThan(10 * callsPerSecond * 0.2);
    }),
    { numRuns: 20 },
  );
});
