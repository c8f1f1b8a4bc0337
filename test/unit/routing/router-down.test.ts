import { describe, expect, it } from 'vitest';
import { breakUpstream, createTestRouter, MODEL, NONE, stateOf, take } from './routing-support.ts';

describe('an upstream that was found to be down', () => {
  it('is not chosen, and is at once when it is found to be up', () => {
    const { router } = createTestRouter([{ upstream: 'main' }, { upstream: 'spare', priority: 2 }]);
    router.setDown(new Set(['main', 'of other settings']));
    expect(stateOf(router, 'main').health).toBe('down');
    expect(take(router).upstream).toBe('spare');
    router.setDown(NONE);
    expect(stateOf(router, 'main').health).toBe('closed');
    expect(take(router).upstream).toBe('main');
  });

  it('is rid of the pause that its calls had brought it', () => {
    const { router } = createTestRouter([{ upstream: 'main' }]);
    breakUpstream(router, 'main');
    router.setDown(new Set(['main']));
    router.setDown(NONE);
    expect(stateOf(router, 'main')).toMatchObject({ health: 'closed', restMs: 0 });
    expect([take(router).upstream, take(router).upstream]).toEqual(['main', 'main']);
  });

  it('keeps, once it is up, what it had asked for, and what its calls show when nobody found it down', () => {
    const { router } = createTestRouter([{ upstream: 'busy' }, { upstream: 'broken' }]);
    take(router, new Set(['broken'])).end('overloaded', 9_000);
    const others = new Set(['busy']);
    while (stateOf(router, 'broken').health === 'closed') take(router, others).end('failed');
    router.setDown(new Set(['busy']));
    router.setDown(NONE);
    expect(stateOf(router, 'busy')).toMatchObject({ health: 'paused', restMs: 9_000 });
    expect(stateOf(router, 'broken').health).toBe('open');
  });

  it('leaves clients to come back by a guess when all are, else by the rest of the others', () => {
    const { router } = createTestRouter([{ upstream: 'a' }, { upstream: 'b' }], () => 0.5);
    router.setDown(new Set(['a', 'b']));
    expect(router.choose(MODEL, NONE)).toEqual({
      kind: 'none',
      why: 'resting',
      retryAfterMs: 1_500,
    });
    router.setDown(new Set(['a']));
    take(router).end('overloaded', 9_000);
    expect(router.choose(MODEL, NONE)).toMatchObject({ why: 'resting', retryAfterMs: 9_000 });
  });

  it('is down for calls that run already, whose end still counts', () => {
    const { router } = createTestRouter([{ upstream: 'a' }]);
    const leases = Array.from({ length: 5 }, () => take(router));
    router.setDown(new Set(['a']));
    for (const lease of leases) lease.end('failed');
    expect(stateOf(router, 'a')).toMatchObject({ health: 'down', inFlight: 0 });
  });
});
