import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { startHaproxy } from '../../support/balancers/start-haproxy.ts';
import { startNginx } from '../../support/balancers/start-nginx.ts';
import { admin } from '../../support/clients/admin.ts';
import { inventKey } from '../../support/clients/invent-key.ts';
import { scrape } from '../../support/clients/scrape.ts';
import type { CleanUp } from '../../support/create-temp-dir.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_UPSTREAM } from '../../support/use-gateway.ts';

afterAll(stopRedisServers);

const BALANCERS = { nginx: startNginx, haproxy: startHaproxy } as const;
/** The tries per minute that a client address has by default. */
const FAILED_KEYS_MAX = 60;
const STRANGER = '127.0.0.2';
const SHIPPED = readFileSync('deploy/compose/tollgate.yaml', 'utf8');

function askModels(url: string, from: string, headers: Readonly<Record<string, string>>) {
  return new Promise<number>((resolve, reject) => {
    get(`${url}/v1/models`, { headers, localAddress: from, agent: false }, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    }).on('error', reject);
  });
}

/** One node that the balancer takes for two. */
async function startSite(
  config: string,
  startBalancer: (typeof BALANCERS)[keyof typeof BALANCERS],
  cleanUp: CleanUp,
) {
  const redis = await startRedisServer();
  const node = await startGateway({
    config: `workers: 1\n${FAST_UPSTREAM}${config}\n`,
    env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
    cleanUp,
  });
  const { url } = await startBalancer([node.port, node.port], cleanUp);
  return { node, url };
}

/**
 * Tries wrong keys as a stranger who claims another address each time, until the stranger is
 * refused whatever the key.
 */
async function guessTooOften(url: string): Promise<void> {
  const statuses: number[] = [];
  for (let i = 0; i < FAILED_KEYS_MAX + 10; i += 1) {
    const headers = { 'x-api-key': inventKey(), 'x-forwarded-for': `203.0.113.${i}` };
    statuses.push(await askModels(url, STRANGER, headers));
  }
  expect(statuses.filter((status) => status === 401)).toHaveLength(FAILED_KEYS_MAX);
  expect(statuses.at(-1)).toBe(429);
}

async function askAsNewCustomer(node: Gateway, url: string): Promise<number> {
  const operator = admin(node);
  const { key } = await operator.createKey(await operator.createAccount());
  return askModels(url, '127.0.0.3', { 'x-api-key': key });
}

const countDoubts = async (node: Gateway, doubt: string) =>
  (await scrape(node)).sum('tollgate_trusted_proxies_doubts_total', { doubt });

describe.each(Object.entries(BALANCERS))('behind %s', (_, startBalancer) => {
  const cleanUp = useCleanUp();

  it('a stranger who guesses keys shuts out nobody else, with the settings that are shipped', async () => {
    const { node, url } = await startSite(SHIPPED, startBalancer, cleanUp);
    await guessTooOften(url);
    expect(await askAsNewCustomer(node, url)).toBe(200);
    expect(await countDoubts(node, 'too_low')).toBe(0);
    expect(await countDoubts(node, 'too_high')).toBe(0);
  });

  it('nor where nobody has told the node of the balancer, which it notices', async () => {
    const { node, url } = await startSite('guards: {trusted_proxies: 0}', startBalancer, cleanUp);
    await guessTooOften(url);
    expect(await askAsNewCustomer(node, url)).toBe(200);
    expect(await askAsNewCustomer(node, url)).toBe(200);
    expect(await askModels(url, STRANGER, { 'x-api-key': inventKey() })).toBe(429);
    await node.waitForLog(/guards\.trusted_proxies looks too low/);
    expect(await countDoubts(node, 'too_low')).toBe(2);
    const warnings = node.logLines().filter(({ msg }) => msg.includes('trusted_proxies'));
    expect(warnings).toHaveLength(1);
  });
});
