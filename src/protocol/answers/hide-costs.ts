import type { Json } from '../json/upstream-json.ts';

/** Vendors say `cost`, `estimated_cost` or `cost_in_usd_ticks`. */
const COST = /cost/i;

/**
 * Whether a field reports the price of a vendor or, from a vendor that resells others, who
 * answered for it. That is between the vendor and the operator: customers pay another price.
 */
export const isVendorCost = (name: string) =>
  name === 'provider' || name === 'is_byok' || COST.test(name);

export const reportsCosts = (reported: Json) => Object.keys(reported).some(isVendorCost);

/** Returns the same object if nothing of it has to be hidden. */
export function hideCosts(reported: Json): Json {
  if (!reportsCosts(reported)) return reported;
  return Object.fromEntries(Object.entries(reported).filter(([name]) => !isVendorCost(name)));
}
