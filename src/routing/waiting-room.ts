import type { Lease, NoRoute, Router } from './router.ts';

interface Waiter {
  readonly model: string;
  readonly exclude: ReadonlySet<string>;
  readonly take: (lease: Lease) => void;
}

/**
 * Router and queue in one: a request that asked the router directly would overtake those that wait.
 */
export interface WaitingRoom {
  /** Call this when an upstream can be used again. Leases that end do it by themselves. */
  serve(): void;
  choose(model: string, exclude: ReadonlySet<string>): Lease | NoRoute;
  /**
   * Call this after `choose` has returned `full`. `take` gets a lease as soon as there is one, in
   * the order of arrival. Returns a function that stops waiting; undefined if too many wait
   * already.
   */
  wait(
    model: string,
    exclude: ReadonlySet<string>,
    take: (lease: Lease) => void,
  ): (() => void) | undefined;
}

interface WaitingRoomOptions {
  readonly router: Router;
  /** For each model, so that a model whose upstreams are full leaves places for the others. */
  readonly waitersPerModelMax: number;
}

export function createWaitingRoom({ router, waitersPerModelMax }: WaitingRoomOptions): WaitingRoom {
  // A Set keeps the order, and deletes from its middle without a search.
  const waiters = new Set<Waiter>();
  const waitersByModel = new Map<string, number>();

  const remove = (waiter: Waiter) => {
    if (!waiters.delete(waiter)) return;
    const left = (waitersByModel.get(waiter.model) ?? 0) - 1;
    if (left > 0) waitersByModel.set(waiter.model, left);
    else waitersByModel.delete(waiter.model);
  };

  const serve = () => {
    if (waiters.size === 0) return;
    const fullModels = new Set<string>();
    for (const waiter of waiters) {
      if (fullModels.size === waitersByModel.size) return;
      if (fullModels.has(waiter.model)) continue;
      const lease = router.choose(waiter.model, waiter.exclude);
      if (lease.kind === 'lease') {
        remove(waiter);
        waiter.take(lease);
      } else if (waiter.exclude.size === 0) {
        fullModels.add(waiter.model);
      }
    }
  };

  router.onChange(serve);

  return {
    serve,
    choose(model, exclude) {
      // A pause may have ended since the last lease did.
      serve();
      return router.choose(model, exclude);
    },
    wait(model, exclude, take) {
      const waiting = waitersByModel.get(model) ?? 0;
      if (waiting >= waitersPerModelMax) return undefined;
      const waiter: Waiter = { model, exclude, take };
      waiters.add(waiter);
      waitersByModel.set(model, waiting + 1);
      return () => remove(waiter);
    },
  };
}
