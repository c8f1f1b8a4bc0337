import type { CleanUp } from '../create-temp-dir.ts';
import { type Gateway, startGateway } from '../servers/start-gateway.ts';
import { startRedisServer, type TestRedisServer } from '../servers/start-redis-server.ts';
import { waitUntil } from '../wait-until.ts';
import { admin } from './admin.ts';
import { askModel, HAIKU, messageOf } from './ask-model.ts';

interface ModelDocument {
  readonly id: string;
  readonly price: Readonly<Record<string, number>>;
  readonly [field: string]: unknown;
}

export interface CatalogueDocument {
  readonly plans: Readonly<Record<string, number>>;
  readonly models: readonly ModelDocument[];
}

interface Shown {
  readonly version: number;
  readonly sold_version: number;
  readonly refused: { readonly version: number; readonly problems: readonly string[] } | null;
  readonly catalogue: CatalogueDocument;
}

interface Changed {
  readonly version: number;
  readonly changes: readonly { field: string; before: unknown; after: unknown }[];
}

interface Receipt {
  readonly charged: number;
  readonly catalogue_version: number;
  readonly usage: { readonly input: number; readonly output: number };
  readonly price: { readonly input: number; readonly output: number };
}

export const FAST =
  '{name: fast, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}';
export const SLOW =
  '{name: slow, kind: simulated, simulated: {tokens_per_second: 50, latency: 1ms}}';

export const settingsOf = (upstreams: readonly string[], { output = 1, workers = 1 } = {}) => `
workers: ${workers}
catalogue: store
plans: {starter: 60, pro: 1000000, team: 1000000}
upstreams: [${upstreams.join(', ')}]
models:
  - {id: ${HAIKU}, max_output_tokens: 8000, price: {input: 0, output: ${output}}, routes: [{upstream: fast}]}
`;
export const SETTINGS = settingsOf([FAST, SLOW]);

export async function startDurableRedis(): Promise<TestRedisServer> {
  return startRedisServer({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
}

export const startOn = (redis: TestRedisServer, config = SETTINGS, cleanUp?: CleanUp) =>
  startGateway({
    config,
    env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
    ...(cleanUp && { cleanUp }),
  });

/** The same document with other prices for the output of the first model. */
export function withOutput(
  { plans, models: [first, ...others] }: CatalogueDocument,
  output: number,
): CatalogueDocument {
  if (first === undefined) throw new Error('there is a model');
  return { plans, models: [{ ...first, price: { ...first.price, output } }, ...others] };
}

/** What an operator does with the catalogue of a node, and all else. */
export function operate(gateway: Gateway) {
  const operator = admin(gateway);
  const read = () => operator.call<Shown>('GET', '/catalogue');
  return {
    ...operator,
    read,
    put: (base: number, catalogue: object, more: object = {}) =>
      operator.call<Changed>('PUT', '/catalogue', { base_version: base, catalogue, ...more }),
    rollBack: (base: number, version: number) =>
      operator.call<Changed>('POST', '/catalogue/rollback', { base_version: base, version }),
    untilSold: (version: number) =>
      waitUntil(async () => (await read()).sold_version === version, `version ${version} is sold`),
    receiptOf: (id: string | null) => operator.call<Receipt>('GET', `/requests/${id}`),
  };
}

export const createKey = async (operator: ReturnType<typeof operate>) => {
  const account = await operator.createAccount();
  return { account, ...(await operator.createKey(account)) };
};

/** What a request for 100 tokens is charged. */
export async function askPrice(gateway: Gateway, key: string): Promise<string | null> {
  const { headers } = await askModel(gateway.url, key, messageOf('[[tokens 100]]'));
  return headers.get('x-tollgate-credits-charged');
}
