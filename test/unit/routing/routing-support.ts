import { createHealth, type Outcome } from '../../../src/routing/health.ts';
import { createRest } from '../../../src/routing/rest.ts';
import {
  createRouter,
  type Lease,
  type ModelRoute,
  type Router,
} from '../../../src/routing/router.ts';
import type { UpstreamLimits } from '../../../src/routing/shared-upstream.ts';
import { createRandom } from '../../../src/upstream/simulated/random.ts';

export const MODEL = 'm-1';
export const NONE: ReadonlySet<string> = new Set();

interface TestRoute extends Partial<ModelRoute> {
  readonly upstream: string;
  readonly concurrencyMax?: number;
}

/** One model, and a clock that the test controls. */
export function createTestRouter(
  routes: readonly TestRoute[],
  random: () => number = createRandom('routing'),
) {
  const time = { nowMs: 1_000_000 };
  const router = createRouter({
    routes: new Map([
      [
        MODEL,
        routes.map(({ upstream, weight = 1, priority = 1 }) => ({ upstream, weight, priority })),
      ],
    ]),
    upstreams: routes.map(
      ({ upstream, concurrencyMax = 1_000 }): UpstreamLimits => ({
        name: upstream,
        concurrencyMax,
      }),
    ),
    clock: { nowMs: () => time.nowMs },
    random,
  });
  return { router, time };
}

export function take(router: Pick<Router, 'choose'>, exclude: ReadonlySet<string> = NONE): Lease {
  const chosen = router.choose(MODEL, exclude);
  if (chosen.kind === 'none') throw new Error(`no route: ${chosen.why}`);
  return chosen;
}

export function stateOf(router: Router, name: string) {
  const state = router.readStates().find((each) => each.name === name);
  if (state === undefined) throw new Error(`no upstream ${name}`);
  return state;
}

/** Makes the only ready upstream fail until the router leaves it alone. */
export function breakUpstream(router: Router, name: string): void {
  while (stateOf(router, name).health === 'closed') take(router).end('failed');
}

export function createTestHealth(random = () => 0.5) {
  const time = { nowMs: 1_000_000 };
  const clock = { nowMs: () => time.nowMs };
  const health = createHealth({ clock, random });
  const pause = createRest(clock);
  /** Returns whether the call was let through. */
  const call = (outcome: Outcome, retryAfterMs?: number) => {
    if (!health.canEnter()) return false;
    health.leave(health.enter(pause), outcome, retryAfterMs);
    return true;
  };
  const fail = (times: number) => {
    for (let n = 0; n < times; n += 1) call('failed');
  };
  const open = () => {
    fail(5);
    if (health.state() !== 'open') throw new Error('five failures in a row did not open it');
  };
  return { health, pause, time, call, fail, open };
}
