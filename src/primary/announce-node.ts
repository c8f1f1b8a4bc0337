import { resolve } from 'node:path';
import type { Config, ModelConfig } from '../config/config.ts';
import type { Endpoint } from '../lib/address/endpoint.ts';
import { formatEndpoint } from '../lib/address/parse-endpoint.ts';
import { reachableHost } from '../lib/address/reachable-host.ts';
import { adminTokenPath } from '../ops/access/load-admin-token.ts';

/**
 * Prints what a person who has just started a node needs next: how to see that it runs, and how to
 * send a first request.
 */
export function announceNode(
  config: Config,
  models: readonly Pick<ModelConfig, 'id'>[],
  demoKey: string | undefined,
  print: (line: string) => void,
): void {
  const { listen, ops } = config;
  const store =
    config.redis === 'embedded' ? `embedded, data in ${config.dataDir}` : 'as configured';
  print(
    `Tollgate listens on ${formatEndpoint(listen)} with ${config.workers} worker(s). Redis: ${store}.`,
  );
  const curl =
    listen.kind === 'unix'
      ? `curl --unix-socket ${listen.path} http://localhost`
      : `curl ${urlOf(listen)}`;
  if (demoKey === undefined) {
    print('Make an account and a key:  tollgate account create, tollgate key create');
  }
  const key = demoKey ?? 'sk-gw2-…';
  const model = models.at(-1)?.id ?? '';
  const body = { model, max_tokens: 300, messages: [{ role: 'user', content: 'Hello!' }] };
  print(`Ask a model:  ${curl}/v1/messages \\`);
  print(`  -H 'x-api-key: ${key}' -H 'llm-version: 2023-06-01' \\`);
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
