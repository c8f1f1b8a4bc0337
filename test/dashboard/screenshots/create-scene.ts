import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';

/** The content of the pictures. */
export interface Scene {
  readonly account: string;
  readonly keyId: string;
  /** Requests use each of these keys. The pictures show the first. */
  readonly keys: readonly string[];
  readonly key: string;
  readonly requestId: string;
}

export const SCENE_CONFIG = `workers: 2
plans: {starter: 60, pro: 300, business: 1000, team: 2000}
upstreams:
  - {name: main, kind: simulated, simulated: {latency: 120ms, tokens_per_second: 400}}
  - {name: spare, kind: simulated, simulated: {seed: 2, latency: 240ms, tokens_per_second: 200}}
`;

const ACCOUNTS = [
  { name: 'Acme Ltd', plan: 'business', credits: 250 },
  { name: 'Hilltop Research', plan: 'team', credits: 1_200 },
  { name: 'Corner Shop', plan: 'pro', credits: 5 },
];
const KEYS = [
  { name: 'build server', rpm: 600, monthly_cap: 20, concurrency: 8 },
  { name: 'support assistant', models: ['haiku', 'sonnet'] },
  { name: 'nightly reports', monthly_cap: 0.002 },
];

export async function createScene(gateway: Gateway): Promise<Scene> {
  const operator = admin(gateway);
  const accounts: string[] = [];
  for (const { name, plan, credits } of ACCOUNTS) {
    const { id } = await operator.call<{ id: string }>('POST', '/accounts', { name, plan });
    const payment = { amount: credits, id: 'invoice-2041', note: 'paid by transfer' };
    await operator.call('POST', `/accounts/${id}/credits`, payment);
    accounts.push(id);
  }
  const [account = '', ...others] = accounts;
  const keys = [];
  for (const controls of KEYS) keys.push(await operator.createKey(account, controls));
  for (const other of others) keys.push(await operator.createKey(other, { name: 'website' }));
  const [{ id: keyId, key } = { id: '', key: '' }] = keys;
  const { headers } = await askModel(gateway.url, key, messageOf('What does this gateway do?'));
  await operator.waitUntilSettled(account);
  const requestId = headers.get('request-id') ?? '';
  return { account, keyId, key, requestId, keys: keys.map((each) => each.key) };
}
