import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf, openStreamUntilAnswered } from '../../support/clients/ask-model.ts';
import { scrape } from '../../support/clients/scrape.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import { type Nodes, startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const WORKERS = 2;
const cleanUp = useCleanUp();
let nodes: Nodes['nodes'];
let redis: Nodes['redis'];

beforeAll(async () => {
  ({ nodes, redis } = await startNodes({ workers: WORKERS, cleanUp }));
});
afterAll(stopRedisServers);

const ENDLESS = messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 });

const countListeners = async () =>
  (await redis.cli('CLIENT', 'LIST', 'TYPE', 'pubsub')).split('\n').length;

/** How many times a worker of the node has heard of a revocation. */
const countHeard = async (node: Gateway) =>
  (await scrape(node)).sum('tollgate_revocation_propagation_seconds_count', { subject: 'key' }) ??
  0;

async function openStreams(key: string, count: number) {
  const streams = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      openStreamUntilAnswered(nodes[index % 2 === 0 ? 0 : 1].url, key, ENDLESS),
    ),
  );
  await waitUntil(
    () => streams.every((stream) => stream.text().includes('content_block_delta')),
    'every stream says something',
  );
  return streams;
}

describe('a revoked key', () => {
  it('is refused from the next request on, on every node', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount();
    const { id, key } = await operator.createKey(account);
    for (const { url } of nodes)
      expect((await askModel(url, key, messageOf('Hi'))).status).toBe(200);
    await operator.revoke(id);
    for (const { url } of [...nodes, ...nodes, ...nodes]) {
      const { status, body, headers } = await askModel(url, key, messageOf('Hi'));
      expect(status).toBe(401);
      expect(body.error).toMatchObject({ type: 'authentication_error' });
      expect(headers.get('x-should-retry')).toBe('false');
    }
  });

  it('loses its open streams on every node, with the reason, and other keys lose none', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount();
    const doomed = await operator.createKey(account);
    const other = await operator.createKey(account);
    const streams = await openStreams(doomed.key, 12);
    const spared = await openStreams(other.key, 4);
    await operator.revoke(doomed.id);
    await Promise.all(streams.map(({ ended }) => ended));
    for (const stream of streams) {
      expect(stream.text()).toMatch(/event: error\ndata: .*This API key has been revoked.*\n\n$/);
    }
    for (const stream of spared) {
      const before = stream.text().length;
      await waitUntil(() => stream.text().length > before, 'the others go on');
      stream.leave();
    }
    await operator.waitUntilSettled(account);
    expect((await operator.key(doomed.id)).spent_this_month).toBeGreaterThan(0);
  });

  it('loses them also when the message was lost, since a worker that missed some asks', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount();
    const { id, key } = await operator.createKey(account);
    const streams = await openStreams(key, 4);
    const listeners = await countListeners();
    const before = await Promise.all(nodes.map(countHeard));
    // Nobody hears of the revocation: nobody may listen until it is over.
    await redis.cli('ACL', 'SETUSER', 'default', '-subscribe', '-ssubscribe');
    await redis.cli('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await operator.revoke(id);
    await redis.cli('ACL', 'SETUSER', 'default', '+subscribe', '+ssubscribe');
    expect(await Promise.all(nodes.map(countHeard))).toEqual(before);
    await Promise.all(streams.map(({ ended }) => ended));
    for (const stream of streams) expect(stream.text()).toContain('has been revoked');
    await waitUntil(async () => (await countListeners()) >= listeners, 'all listen again');
  });

  it('stays refused when the store forgets the revocation in a failover', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount();
    const { id, key } = await operator.createKey(account);
    const streams = await openStreams(key, 4);
    const before = await Promise.all(nodes.map(countHeard));
    await operator.revoke(id);
    await Promise.all(streams.map(({ ended }) => ended));
    for (const [index, node] of nodes.entries()) {
      const wanted = (before[index] ?? 0) + WORKERS;
      await waitUntil(async () => (await countHeard(node)) >= wanted, 'each worker has heard');
    }
    const record = (await redis.cli('--scan', '--pattern', `*key:${id}`)).split('\n')[0] ?? '';
    await redis.cli('HSET', record, 'status', 'active');
    for (const { url } of [...nodes, ...nodes, ...nodes]) {
      expect((await askModel(url, key, messageOf('Hi'))).status).toBe(401);
    }
  });
});

describe('a suspended account', () => {
  it('loses its open streams', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount();
    const { key } = await operator.createKey(account);
    const streams = await openStreams(key, 4);
    await operator.call('PATCH', `/accounts/${account}`, { status: 'suspended' });
    await Promise.all(streams.map(({ ended }) => ended));
    for (const stream of streams) expect(stream.text()).toContain('permission_error');
  });
});

describe('a rotated key', () => {
  it('loses no request under load while its old secret is still valid, and refuses it afterwards', async () => {
    const operator = admin(nodes[0]);
    const account = await operator.createAccount();
    const old = await operator.createKey(account, { monthly_cap: 100 });
    const statuses: number[] = [];
    let isLoaded = true;
    const load = Array.from({ length: 8 }, async (_, index) => {
      while (isLoaded) {
        const { url } = nodes[index % 2 === 0 ? 0 : 1];
        statuses.push((await askModel(url, old.key, messageOf('Hi', { max_tokens: 1 }))).status);
      }
    });
    await waitUntil(() => statuses.length > 50, 'the load is on its way');
    const { key } = await operator.rotate(old.id, 3_600);
    const then = statuses.length;
    await waitUntil(() => statuses.length > then + 100, 'the load goes on');
    isLoaded = false;
    await Promise.all(load);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await askModel(nodes[1].url, key, messageOf('Hi'))).status).toBe(200);

    const spent = (await operator.key(old.id)).spent_this_month;
    expect(spent).toBeGreaterThan(0);
    await operator.rotate(old.id, 0);
    for (const { url } of nodes) {
      expect((await askModel(url, key, messageOf('Hi'))).status).toBe(401);
      expect((await askModel(url, old.key, messageOf('Hi'))).status).toBe(401);
    }
    expect((await operator.key(old.id)).spent_this_month).toBeGreaterThanOrEqual(spent);
  });
});
