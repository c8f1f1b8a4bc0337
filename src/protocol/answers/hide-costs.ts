import type { Json } from '../json/upstream-json.ts';

/**
 * What a vendor that resells others tells of its price and of who answered for it. That is between
 * the vendor and the operator: customers pay another price.
 */
const COSTS = new Set(['cost', 'cost_details', 'is_byok', 'provider']);

export const isVendorCost = (name: string) => COSTS.has(name);

export const tellsCosts = (told: Json) => Object.keys(told).some(isVendorCost);

/** Returns the same object if nothing of it has to be hidden. */
export function hideCosts(told: Json): Json {
  if (!tellsCosts(told)) return told;
  return Object.fromEntries(Object.entries(told).filter(([name]) => !isVendorCost(name)));
}
