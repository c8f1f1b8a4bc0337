import { resolve } from 'node:path';
import { demoKeyPath } from '../accounts/ensure-demo-key.ts';
import type { Config, ModelConfig } from '../config/config.ts';
import { DEFAULT_DATA_DIR, DEFAULT_OPS_LISTEN } from '../config/default-settings.ts';
import type { Endpoint } from '../lib/address/endpoint.ts';
import { formatEndpoint } from '../lib/address/parse-endpoint.ts';
import { reachableHost } from '../lib/address/reachable-host.ts';
import { adminTokenPath } from '../ops/access/load-admin-token.ts';

interface Announcement {
  readonly config: Config;
  readonly configPath: string | undefined;
  readonly models: readonly Pick<ModelConfig, 'id' | 'isEmbedding'>[];
  /** The names of those that are sold. */
  readonly plans: readonly string[];
  /** Why Redis does not accept this node yet; undefined if it does. */
  readonly redisTrouble: string | undefined;
  /** How commands are called here. */
  readonly program: string;
}

/**
 * Prints what a person who has just started a node needs next: how to see that it runs, and how to
 * send a first request.
 */
export function announceNode(announcement: Announcement, print: (line: string) => void): void {
  const { config, models } = announcement;
  const { listen, ops } = config;
  print(`Tollgate listens on ${formatEndpoint(listen)} with ${config.workers} worker(s).`);
  print(`Redis: ${describeRedis(announcement)}.`);
  const curl =
    listen.kind === 'unix'
      ? `curl --unix-socket ${listen.path} http://localhost`
      : `curl ${urlOf(listen)}`;
  const hasDemoKey = config.redis === 'embedded';
  if (!hasDemoKey) announceCommands(announcement, print);
  // What a service prints stays in the journal of its machine, so the key itself is not printed.
  const key = hasDemoKey ? `$(cat '${demoKeyPath(config.dataDir)}')` : 'sk-gw2-…';
  const { path, body } = sampleRequest(models);
  print(`Ask a model:  ${curl}${path} \\`);
  print(`  -H "x-api-key: ${key}" -H 'llm-version: 2023-06-01' \\`);
  print(`  -H 'content-type: application/json' -d '${JSON.stringify(body)}'`);
  if (listen.kind !== 'unix' && config.keyPage) print(`Page for key owners:  ${urlOf(listen)}/`);
  if (ops.listen.kind !== 'unix') {
    print(`Dashboard:  ${urlOf(ops.listen)}/`);
    print(`Documentation:  ${urlOf(ops.listen)}/docs`);
  }
  const token =
    ops.adminToken === undefined ? resolve(adminTokenPath(config.dataDir)) : 'as configured';
  print(`Admin token:  ${token}`);
  if (config.guards.trustedProxies === 0 && isReachedFromHere(listen)) {
    print('Behind a balancer?  Set guards.trusted_proxies, or all of its clients count as one.');
  }
  print(`Try it:  ${curl}/healthz`);
}

function sampleRequest(models: Announcement['models']) {
  const answering = models.findLast(({ isEmbedding }) => !isEmbedding);
  if (answering === undefined) {
    return { path: '/v1/embeddings', body: { model: models.at(-1)?.id ?? '', input: 'Hello!' } };
  }
  const messages = [{ role: 'user', content: 'Hello!' }];
  return { path: '/v1/messages', body: { model: answering.id, max_tokens: 300, messages } };
}

function describeRedis(announcement: Announcement): string {
  const { config, configPath, redisTrouble, program } = announcement;
  if (redisTrouble !== undefined) {
    const doctor = `${program} doctor${configPath === undefined ? '' : ` --config ${configPath}`}`;
    return `not usable yet (${redisTrouble}); \`${doctor}\` says more`;
  }
  return config.redis === 'embedded' ? `embedded, data in ${config.dataDir}` : 'as configured';
}

/** Commands ask the node at the default address, unless they are given another. */
function announceCommands(
  { config: { ops, dataDir }, plans, program }: Announcement,
  print: (line: string) => void,
): void {
  const isUsual = ops.listen.kind === 'unix' || formatEndpoint(ops.listen) === DEFAULT_OPS_LISTEN;
  const url = isUsual ? '' : ` --url ${urlOf(ops.listen)}`;
  const isElsewhere = resolve(dataDir) !== resolve(DEFAULT_DATA_DIR);
  const where = isElsewhere && ops.adminToken === undefined ? `${url} --data-dir ${dataDir}` : url;
  const [plan = 'PLAN'] = plans;
  print('Make an account, and a key with the id that it prints:');
  print(`  ${program} account create --name 'Acme Ltd' --plan ${plan} --credits 100${where}`);
  print(`  ${program} key create --account ID --name laptop${where}`);
}

function urlOf(endpoint: Extract<Endpoint, { readonly kind: 'tcp' }>): string {
  return `http://${formatEndpoint({ ...endpoint, host: reachableHost(endpoint.host) })}`;
}

/**
 * Whether only this machine can reach the address. Clients then come through a proxy that runs here
 * too.
 */
function isReachedFromHere(listen: Endpoint): boolean {
  return listen.kind === 'unix' || /^(127\.|::1$|localhost$)/.test(listen.host);
}
