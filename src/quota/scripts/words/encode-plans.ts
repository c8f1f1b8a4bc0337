import type { PlanLimits } from '../../../protocol/admission.ts';

const encoded = new WeakMap<PlanLimits, { readonly windowMs: number; readonly text: string }>();

/**
 * The plans as `lua/plans.lua` reads them. The plan with the lowest limit comes first, because a
 * plan that the store knows and these do not counts as the first one.
 */
export function encodePlans(plans: PlanLimits, windowMs: number): string {
  const known = encoded.get(plans);
  if (known?.windowMs === windowMs) return known.text;
  const terms = Object.entries(plans).map(([name, plan]) =>
    typeof plan === 'number' ? { name, requests: plan, list: '' } : { name, ...plan },
  );
  terms.sort((one, other) => one.requests - other.requests);
  const text = terms.map(({ name, requests, list }) => `${name}=${requests};${list}|`).join('');
  encoded.set(plans, { windowMs, text: `${windowMs}|${text}` });
  return `${windowMs}|${text}`;
}
