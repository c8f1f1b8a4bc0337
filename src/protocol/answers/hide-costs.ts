import type { Json } from '../json/upstream-json.ts';

/** Vendors say `cost`, `estimated_cost` or `cost_in_usd_ticks`. */
const COST = /cost/i;

/**
 * Whether a field has what a vendor tells of its price, or a vendor that resells others of who
 * answered for it. That is between the vendor and the operator: customers pay another price.
 */
export const isVendorCost = (name: string) =>
  name === 'provider' || name === 'is_byok' || COST.test(name);

export const tellsCosts = (told: Json) => Object.keys(told).some(isVendorCost);

/** Returns the same object if nothing of it has to be hidden. */
export function hideCosts(told: Json): Json {
  if (!tellsCosts(told)) return told;
  return Object.fromEntries(Object.entries(told).filter(([name]) => !isVendorCost(name)));
}
