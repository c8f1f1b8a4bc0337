import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import type { RedisTarget } from '../../../src/lib/address/redis-target.ts';
import { startCluster } from '../../proof/support/start-cluster.ts';
import { startSentinels } from '../../proof/support/start-sentinels.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf, openStreamUntilAnswered } from '../../support/clients/ask-model.ts';
import { verifyLedger } from '../../support/ledger/verify-ledger.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_UPSTREAM } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterEach(stopRedisServers);

function urlOf(target: RedisTarget): string {
  switch (target.topology) {
    case 'cluster':
      return `redis-cluster://${target.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
    case 'sentinel': {
      const hosts = target.sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
      return `redis-sentinel://${hosts}/${target.masterName}`;
    }
    default:
      throw new Error('a single server is what the other tests have');
  }
}

/** Says whether an answer is kept, and the next request may refer to it. */
async function keepsAnswers({ responses }: OpenAI): Promise<boolean> {
  const asked = { model: 'llm-haiku-4.5', input: 'Hello' };
  const made = await responses.create(asked);
  const { id } = made;
  if (!('store' in made) || made.store !== true) return false;
  const next = await responses.create({ ...asked, previous_response_id: id });
  return next.previous_response_id === id;
}

/** Buckets are random: with this many accounts, every node of a Cluster has some. */
const ACCOUNTS = 8;

describe.each([
  ['Sentinel', startSentinels],
  ['a Cluster', startCluster],
])('a node on %s', (_, start) => {
  it('admits, charges, revokes, has a clean ledger, and keeps answers after a failover', async () => {
    const { target, killMaster } = await start();
    const redisUrl = urlOf(target);
    const config = `workers: 2\n${FAST_UPSTREAM}redis: {url: "${redisUrl}"}\n`;
    const gateway = await startGateway({ config });
    const operator = admin(gateway);
    const callers = await Promise.all(
      Array.from({ length: ACCOUNTS }, async () => {
        const account = await operator.createAccount({ credits: 5 });
        return { account, ...(await operator.createKey(account, { rpm: 100_000 })) };
      }),
    );

    const ask = async (key: string) => (await askModel(gateway.url, key, messageOf('Hi'))).status;
    const statuses = await Promise.all(callers.flatMap(({ key }) => [ask(key), ask(key)]));
    expect(new Set(statuses)).toEqual(new Set([200]));

    const endless = messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 });
    const streams = await Promise.all(
      callers.map(({ key }) => openStreamUntilAnswered(gateway.url, key, endless)),
    );
    await waitUntil(
      () => streams.every((stream) => stream.text().includes('content_block_delta')),
      'every stream says something',
    );
    for (const { id } of callers) await operator.revoke(id);
    await Promise.all(streams.map(({ ended }) => ended));
    for (const stream of streams) expect(stream.text()).toContain('has been revoked');
    for (const { key } of callers) expect(await ask(key)).toBe(401);

    for (const { account, id } of callers) {
      await operator.waitUntilSettled(account);
      const spent = (await operator.key(id)).spent_this_month;
      expect(spent).toBeGreaterThan(0);
      expect((await operator.account(account)).balance).toBeCloseTo(5 - spent, 9);
    }
    expect(await verifyLedger(gateway, redisUrl)).toMatchObject({
      is_clean: true,
      accounts: ACCOUNTS,
    });

    const keepers = await Promise.all(
      callers.map(async ({ account }) => {
        const { key } = await operator.createKey(account);
        return new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
      }),
    );
    for (const keeper of keepers) expect(await keepsAnswers(keeper)).toBe(true);
    await killMaster();
    for (const keeper of keepers) {
      const isBack = () => keepsAnswers(keeper).catch(() => false);
      await waitUntil(isBack, 'answers are kept by the new master');
    }
  });
});
