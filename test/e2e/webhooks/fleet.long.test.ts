import { afterAll, describe, expect, it } from 'vitest';
import {
  cutReplication,
  startSentinels,
  waitForReplicas,
} from '../../proof/support/start-sentinels.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { expectAdmitted } from '../../support/clients/expect-admitted.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  answerStatus,
  startReceiver,
  type WebhookReceiver,
} from '../../support/webhooks/start-receiver.ts';

const cleanUp = useCleanUp();
afterAll(stopRedisServers);

/** See `connect-sentinel.long.test.ts`: on a loaded machine an election can take this long. */
const FAILOVER_TIMEOUT_MS = 150_000;
const TEST_TIMEOUT_MS = 240_000;

const settingsOf = ({ url }: WebhookReceiver) => `
webhooks:
  hosts: [127.0.0.1]
  private_networks: [127.0.0.1]
  endpoints: [{name: all, url: '${url}', secrets: [whsec_${Buffer.alloc(24, 1).toString('base64')}]}]
`;

interface ListedEvent {
  readonly id: string;
  readonly level: string;
  readonly type: string;
  readonly counted: number;
}

async function createKey(gateway: Gateway, amount: number) {
  const account = await admin(gateway).createAccount();
  const limits = [{ unit: 'requests', window: 'month', amount }];
  await admin(gateway).call('PATCH', `/accounts/${account}`, { limits });
  const { key } = await admin(gateway).createKey(account, { limits });
  return { account, key };
}

const ask = (gateway: Gateway, key: string) =>
  askModel(gateway.url, key, messageOf('Hi', { max_tokens: 1 }));

const idsOf = ({ received }: WebhookReceiver, account: string) =>
  received
    .filter(({ event }) => event.data['account'] === account)
    .map(({ headers }) => headers['webhook-id'] ?? '');

const list = async (gateway: Gateway, account: string) => {
  const path = `/limit-events?account=${account}`;
  const { data } = await admin(gateway).call<{ data: ListedEvent[] }>('GET', path);
  return data.reverse();
};

/** The ids without those that repeat the one before. */
const inOrder = (ids: readonly string[]) => ids.filter((id, i) => id !== ids[i - 1]);

describe('two nodes', () => {
  it('tell each limit that hundreds of requests cross together once, exactly at its lines', async () => {
    const receiver = await startReceiver(cleanUp);
    const { nodes } = await startNodes({ settings: settingsOf(receiver), cleanUp });
    const [first] = nodes;
    const { account, key } = await createKey(first, 50);
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, i) => ask(nodes[i % 2] as Gateway, key)),
    );
    expectAdmitted(answers, 50);
    await waitUntil(() => new Set(idsOf(receiver, account)).size === 4, 'all are told');
    const events = await list(first, account);
    expect(events.map(({ level, type, counted }) => `${level} ${type} ${counted}`).sort()).toEqual([
      'account limit.reached 50',
      'account limit.warning 40',
      'key limit.reached 50',
      'key limit.warning 40',
    ]);
    expect(inOrder(idsOf(receiver, account))).toEqual(events.map(({ id }) => id));
  });

  it('go on with what a node was telling when it was killed', {
    timeout: TEST_TIMEOUT_MS,
  }, async () => {
    const receiver = await startReceiver(cleanUp);
    const { nodes, redis } = await startNodes({
      ...{ settings: settingsOf(receiver), workers: 1, cleanUp },
    });
    const { account, key } = await createKey(nodes[0], 5);
    // It takes the message and never answers.
    receiver.answer(() => {});
    for (let time = 0; time < 6; time++) await ask(nodes[time % 2] as Gateway, key);
    await waitUntil(() => idsOf(receiver, account).length > 0, 'the first is on its way');
    const holder = await redis.cli('get', 'gw:{e}:webhooks-lease');
    const killed = nodes.find((node) => holder.startsWith(node.nodeId())) as Gateway;
    const other = nodes.find((node) => node !== killed) as Gateway;
    killed.signal('SIGKILL');
    await killed.waitForExit();
    receiver.answer(answerStatus(200));
    await waitUntil(
      () => new Set(idsOf(receiver, account)).size === 4,
      'the other tells all of them',
    );
    const events = (await list(other, account)).map(({ id }) => id);
    expect(events).toHaveLength(4);
    expect(inOrder(idsOf(receiver, account))).toEqual(events);
  });
});

it('a failover of Redis loses no event', { timeout: TEST_TIMEOUT_MS }, async () => {
  const { target, master, killMaster, isFailedOver } = await startSentinels();
  const hosts = target.topology === 'sentinel' ? target.sentinels : [];
  const url = `redis-sentinel://${hosts.map((host) => `127.0.0.1:${'port' in host ? host.port : 0}`)}/main`;
  const receiver = await startReceiver(cleanUp);
  const config = `${FAST_CONFIG}${settingsOf(receiver)}`;
  const env = { TOLLGATE_REDIS_URL: url };
  const gateway = await startGateway({ config, env, cleanUp });
  const { account, key } = await createKey(gateway, 5);
  for (let time = 0; time < 3; time++) await ask(gateway, key);
  await admin(gateway).waitUntilSettled(account);
  await waitForReplicas(master, 2);
  await cutReplication(master);

  for (let time = 0; time < 3; time++) await ask(gateway, key);
  await admin(gateway).waitUntilSettled(account);
  await waitUntil(async () => (await list(gateway, account)).length === 4, 'the list has them');
  const before = await list(gateway, account);
  await killMaster();
  const isOver = () => isFailedOver().catch(() => false);
  await waitUntil(isOver, 'the failover is over', FAILOVER_TIMEOUT_MS);
  const listAgain = () => list(gateway, account).catch(() => []);
  await waitUntil(
    async () => (await listAgain()).length === 4,
    'the list has them again',
    FAILOVER_TIMEOUT_MS,
  );
  const after = await listAgain();
  const sorted = (events: readonly ListedEvent[]) => events.map(({ id }) => id).sort();
  expect(sorted(after)).toEqual(sorted(before));
  await waitUntil(
    () => new Set(idsOf(receiver, account)).size === 4,
    'the webhook is told of all',
    FAILOVER_TIMEOUT_MS,
  );
});
