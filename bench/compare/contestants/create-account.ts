import type { CallAdmin } from '../../support/admin-api.ts';

export const CREDITS = 1_000_000;

/** Creates an account with more credits than a run can spend. */
export async function createAccount(admin: CallAdmin): Promise<string> {
  const { id } = await admin<{ id: string }>('POST', '/accounts', { name: 'bench', plan: 'pro' });
  await admin('POST', `/accounts/${id}/credits`, { amount: CREDITS, id: 'bench', note: '' });
  return id;
}
