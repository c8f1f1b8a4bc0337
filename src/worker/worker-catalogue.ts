import { createOffer, type Offer } from '../catalogue/offer.ts';
import type { CurrentCatalogue } from '../config/config.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import type { Upstreams } from './upstreams.ts';

/** The parts of a worker that depend on what is sold. */
interface Followers {
  readonly metrics: Pick<ProcessMetrics, 'allowModels'>;
  readonly upstreams: Pick<Upstreams, 'changeRoutes'>;
}

export interface WorkerCatalogue {
  current(): Offer;
  /** Requests that run keep the offer that they began with. */
  change(next: CurrentCatalogue, followers: Followers): void;
}

/** What a worker sells, which changes without a new worker. */
export function createWorkerCatalogue(first: CurrentCatalogue): WorkerCatalogue {
  let offer = createOffer(first);
  return {
    current: () => offer,
    change(next, { metrics, upstreams }) {
      metrics.allowModels(next.models);
      upstreams.changeRoutes(next.models);
      offer = createOffer(next);
    },
  };
}
