import { createSoakKey, type SoakAccount, type World } from '../../../bench/soak/world.ts';
import type { CallAdmin } from '../../../bench/support/admin-api.ts';

/** Requests per window, as in the settings of the nodes. */
export const PLANS = { team: 100_000, starter: 40 } as const;

interface Kind {
  readonly count: number;
  readonly plan: keyof typeof PLANS;
  readonly credits: number;
}

/** Most accounts have enough, so that faults and not limits decide what is served. */
const KINDS: readonly Kind[] = [
  { count: 14, plan: 'team', credits: 1_000 },
  { count: 3, plan: 'starter', credits: 1_000 },
  { count: 3, plan: 'team', credits: 0.05 },
];

/** Of each account. The caps and the poor accounts are used up in the course of a row. */
const CONTROLS = [{}, { rpm: 10 }, { monthly_cap: 0.02 }] as const;

const POOR_BELOW = 1;

export const KEYS_OF_AN_ACCOUNT = CONTROLS.length;

export async function createFaultWorld(admin: CallAdmin): Promise<World> {
  const world = { accounts: [] as SoakAccount[], keys: [] as World['keys'] };
  for (const { count, plan, credits } of KINDS) {
    for (let number = 0; number < count; number += 1) {
      const { id } = await admin<{ id: string }>('POST', '/accounts', { name: 'faults', plan });
      await admin('POST', `/accounts/${id}/credits`, { amount: credits, id: `first-${id}` });
      const account = { id, requestsMax: PLANS[plan], isPoor: credits < POOR_BELOW };
      world.accounts.push(account);
      for (const controls of CONTROLS) {
        world.keys.push(await createSoakKey(admin, account, controls));
      }
    }
  }
  return world;
}
