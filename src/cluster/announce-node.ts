import type { Config } from '../config/config.ts';
import { formatEndpoint } from '../lib/parse-endpoint.ts';
import { reachableHost } from '../lib/reachable-host.ts';

/** What somebody who has just started a node wants to do next: see that it lives, and ask it something. */
export function announceNode(
  config: Config,
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
      : `curl http://${formatEndpoint({ ...listen, host: reachableHost(listen.host) })}`;
  if (demoKey === undefined) {
    print('Make an account and a key:  tollgate account create, tollgate key create');
  }
  const key = demoKey ?? 'sk-gw2-…';
  const model = config.models.at(-1)?.id ?? '';
  const body = { model, max_tokens: 300, messages: [{ role: 'user', content: 'Hello!' }] };
  print(`Ask a model:  ${curl}/v1/messages \\`);
  print(`  -H 'x-api-key: ${key}' -H 'llm-version: 2023-06-01' \\`);
  print(`  -H 'content-type: application/json' -d '${JSON.stringify(body)}'`);
  if (ops.listen.kind !== 'unix') {
    const opsHost = reachableHost(ops.listen.host);
    print(`Dashboard:  http://${formatEndpoint({ ...ops.listen, host: opsHost })}/`);
  }
  print(`Try it:  ${curl}/healthz`);
}
