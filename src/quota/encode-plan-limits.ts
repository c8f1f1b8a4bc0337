import type { PlanLimits } from './admit.ts';

/** As `lua/window.lua` takes it. */
export function encodePlanLimits({ starter, pro, business, team }: PlanLimits): string {
  return `,starter=${starter},pro=${pro},business=${business},team=${team}`;
}
