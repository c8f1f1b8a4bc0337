import { describe, expect, it } from 'vitest';
import { createRouter } from '../../../src/routing/router.ts';
import { NONE, stateOf } from './routing-support.ts';

function createTwoModels() {
  const time = { nowMs: 1_000_000 };
  const route = { upstream: 'a', weight: 1, priority: 1 };
  const router = createRouter({
    routes: new Map([
      ['busy', [route]],
      ['calm', [route]],
    ]),
    upstreams: [{ name: 'a', concurrencyMax: 10 }],
    clock: { nowMs: () => time.nowMs },
    random: () => 0.5,
  });
  const take = (model: string) => {
    const chosen = router.choose(model, NONE);
    if (chosen.kind === 'none') throw new Error(`no route: ${chosen.why}`);
    return chosen;
  };
  return { router, time, take };
}

describe('an upstream that is overloaded with one model', () => {
  it('is spared that model for as long as it asks, and no other', () => {
    const { router, time, take } = createTwoModels();
    take('busy').end('overloaded', 7_000);
    expect(stateOf(router, 'a')).toMatchObject({ health: 'paused', restMs: 7_000 });
    expect(router.choose('busy', NONE)).toEqual({
      kind: 'none',
      why: 'resting',
      retryAfterMs: 7_000,
    });
    take('calm').end('ok');
    time.nowMs += 7_000;
    expect(stateOf(router, 'a')).toMatchObject({ health: 'closed', restMs: 0 });
    take('busy').end('ok');
  });

  it('is left alone with all of them when it fails', () => {
    const { router, take } = createTwoModels();
    for (let n = 0; n < 5; n += 1) take('busy').end('failed');
    expect(stateOf(router, 'a').health).toBe('open');
    expect(router.choose('calm', NONE)).toMatchObject({ why: 'resting' });
  });
});
