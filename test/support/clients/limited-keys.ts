import type { Gateway } from '../servers/start-gateway.ts';
import { admin } from './admin.ts';

/**
 * A key whose account has no credits, and a key that may use none of the models that tests ask for.
 */
export async function createLimitedKeys(
  gateway: Gateway,
): Promise<{ poor: string; narrow: string }> {
  const operator = admin(gateway);
  const poor = await operator.createKey(await operator.createAccount({ credits: 0 }));
  const narrow = await operator.createKey(await operator.createAccount(), { models: ['opus'] });
  return { poor: poor.key, narrow: narrow.key };
}

/** A key that admits one request per window. */
export async function createSlowKey(gateway: Gateway): Promise<string> {
  const operator = admin(gateway);
  const { key } = await operator.createKey(await operator.createAccount(), { rpm: 1 });
  return key;
}
