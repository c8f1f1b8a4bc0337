import type { CallAdmin } from '../support/admin-api.ts';

/** Requests per window, as in the settings of the nodes. */
export const PLANS = { starter: 120, pro: 1_200, business: 6_000, team: 100_000 } as const;

export interface SoakAccount {
  readonly id: string;
  readonly requestsMax: number;
  /** Whether the account is topped up now and then. */
  readonly isPoor: boolean;
}

/** A key as the soak knows it. */
export interface SoakKey {
  readonly id: string;
  readonly account: SoakAccount;
  /** The newest text of the key. */
  text: string;
  readonly rpm: number | undefined;
  /**
   * When the answer to the revocation arrived, by the clock of this process. Undefined while the
   * key is valid.
   */
  revokedMs: number | undefined;
}

export interface World {
  readonly accounts: readonly SoakAccount[];
  /** All keys, including revoked keys. */
  readonly keys: SoakKey[];
}

interface Controls {
  readonly rpm?: number;
  readonly monthly_cap?: number;
  readonly concurrency?: number;
}

const ACCOUNTS = [
  { plan: 'starter', credits: 100 },
  { plan: 'pro', credits: 100 },
  { plan: 'business', credits: 100 },
  { plan: 'team', credits: 1_000 },
  { plan: 'team', credits: 0.005 },
  { plan: 'team', credits: 0.05 },
] as const;

const POOR_BELOW = 1;

/** The limits of the keys of every account. */
export const KEY_CONTROLS: readonly Controls[] = [
  {},
  { rpm: 10 },
  { rpm: 120, concurrency: 2 },
  { monthly_cap: 0.03 },
];

export async function createWorld(admin: CallAdmin): Promise<World> {
  const accounts: SoakAccount[] = [];
  const keys: SoakKey[] = [];
  for (const { plan, credits } of ACCOUNTS) {
    const { id } = await admin<{ id: string }>('POST', '/accounts', { name: 'soak', plan });
    await admin('POST', `/accounts/${id}/credits`, { amount: credits, id: `first-${id}` });
    const account = { id, requestsMax: PLANS[plan], isPoor: credits < POOR_BELOW };
    accounts.push(account);
    for (const controls of KEY_CONTROLS) keys.push(await createSoakKey(admin, account, controls));
  }
  return { accounts, keys };
}

export async function createSoakKey(
  admin: CallAdmin,
  account: SoakAccount,
  controls: Controls,
): Promise<SoakKey> {
  const path = `/accounts/${account.id}/keys`;
  const { id, key } = await admin<{ id: string; key: string }>('POST', path, controls);
  return { id, account, text: key, rpm: controls.rpm, revokedMs: undefined };
}

export function pickOne<Item>(items: readonly Item[]): Item {
  const picked = items[Math.floor(Math.random() * items.length)];
  if (picked === undefined) throw new Error('there is nothing to pick');
  return picked;
}
