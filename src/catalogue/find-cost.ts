import type { Usage } from '../protocol/inference.ts';
import type { Price } from './catalogue.ts';
import { priceUsage } from './price-usage.ts';

interface CostlyUpstream {
  readonly name: string;
  /** What the vendor charges, by the ids of models. */
  readonly costs: Readonly<Record<string, Price>>;
}

/**
 * Returns what the vendor charges for a usage, in micro-credits, rounded up once. Undefined if no
 * cost is set for this model at this upstream.
 */
export type FindCost = (upstream: string, model: string, usage: Usage) => number | undefined;

export function createFindCost(upstreams: readonly CostlyUpstream[]): FindCost {
  const costs = new Map(upstreams.map(({ name, costs }) => [name, new Map(Object.entries(costs))]));
  return (upstream, model, usage) => {
    const price = costs.get(upstream)?.get(model);
    return price && priceUsage(usage, price);
  };
}
