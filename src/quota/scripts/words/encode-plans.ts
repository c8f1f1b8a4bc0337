import type { PlanLimits } from '../../../protocol/admission.ts';

const encoded = new WeakMap<PlanLimits, { readonly head: string; readonly text: string }>();

/**
 * The plans as `lua/plans.lua` reads them. The plan with the lowest limit comes first, because a
 * plan that the store knows and these do not counts as the first one.
 */
export function encodePlans(plans: PlanLimits, windowMs: number, warnAtShare: number): string {
  const head = `${windowMs},${warnAtShare}|`;
  const known = encoded.get(plans);
  if (known?.head === head) return known.text;
  const terms = Object.entries(plans).map(([name, plan]) =>
    typeof plan === 'number' ? { name, requests: plan, list: '' } : { name, ...plan },
  );
  terms.sort((one, other) => one.requests - other.requests);
  const text = terms.map(({ name, requests, list }) => `${name}=${requests};${list}|`).join('');
  encoded.set(plans, { head, text: head + text });
  return head + text;
}
