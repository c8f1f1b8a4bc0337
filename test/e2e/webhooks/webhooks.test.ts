import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_SCHEMAS } from '../../../src/ops/schemas/event-schemas.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { listenToEvents } from '../../support/clients/listen-to-events.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  type Answer,
  answerStatus,
  startReceiver,
  type WebhookReceiver,
} from '../../support/webhooks/start-receiver.ts';

const OLD_SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const NEW_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const RETRIED_WITHIN_MS = 40_000;
const cleanUp = useCleanUp();
let redis: TestRedisServer;
let receiver: WebhookReceiver;
let gateway: Gateway;
let env: Record<string, string>;

const settingsOf = (url: string) => `${FAST_CONFIG}
warnings: {low_balance: 900}
webhooks:
  hosts: [127.0.0.1]
  private_networks: [127.0.0.0/8]
  endpoints:
    - {name: billing, url: '${url}', secrets: [${OLD_SECRET}, ${NEW_SECRET}]}
`;

beforeAll(async () => {
  redis = await startRedisServer({ args: ['--appendonly', 'yes'] });
  receiver = await startReceiver(cleanUp);
  env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
  gateway = await startGateway({ config: settingsOf(receiver.url), env, cleanUp });
});
afterAll(stopRedisServers);

const idsOf = (account: string) =>
  receiver.received
    .filter(({ event }) => event.data['account'] === account)
    .map(({ headers }) => headers['webhook-id'] ?? '');

interface Listed {
  readonly data: readonly { readonly id: string; readonly type: string }[];
}
const list = (account: string) =>
  admin(gateway).call<Listed>('GET', `/limit-events?account=${account}`);

/** A key that may ask so often in any 24 hours, which makes a warning and then an end. */
async function createKey(requests: number) {
  const account = await admin(gateway).createAccount();
  const limits = [{ unit: 'requests', window: '1d', amount: requests }];
  const { key, id } = await admin(gateway).createKey(account, { limits });
  const ask = async (times: number) => {
    for (let time = 0; time < times; time++) {
      await askModel(gateway.url, key, messageOf('Hi', { max_tokens: 1 }));
    }
  };
  return { account, id, ask };
}

describe('a node with a webhook', () => {
  it('tells of limits in the list, the stream, the metrics and the webhook, signed with every secret', async () => {
    const heard = await listenToEvents(gateway);
    const { account, id, ask } = await createKey(5);
    await ask(6);
    await waitUntil(() => idsOf(account).length === 2, 'the webhook is told of both');
    const [first] = receiver.received.filter(({ event }) => event.data['account'] === account);
    for (const secret of [OLD_SECRET, NEW_SECRET]) {
      expect(new Webhook(secret).verify(first?.body ?? '', first?.headers ?? {})).toMatchObject({
        type: 'limit.warning',
        data: { key: id, level: 'key', unit: 'requests', window: '1d', amount: 5, counted: 4 },
      });
    }
    const wrong = new Webhook(`whsec_${Buffer.alloc(24, 3).toString('base64')}`);
    expect(() => wrong.verify(first?.body ?? '', first?.headers ?? {})).toThrow('signature');

    const { data } = await list(account);
    expect(data.map(({ type }) => type)).toEqual(['limit.reached', 'limit.warning']);
    expect(data.map((event) => event.id).reverse()).toEqual(idsOf(account));
    const told = () => heard().filter(({ type, data }) => type === 'limit' && data['key'] === id);
    await waitUntil(() => told().length === 2, 'the stream tells both');
    for (const event of told()) EVENT_SCHEMAS.limit.parse(event.data);
    const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
    expect(metrics).toMatch(
      /tollgate_limit_events_total\{[^}]*type="limit.reached"[^}]*\} [1-9]|tollgate_limit_events_total\{type="limit.reached",level="key"\} [1-9]/,
    );
    expect(metrics).toMatch(/tollgate_webhook_events_total\{result="delivered"\} [1-9]/);
  });

  it('counts events that a bucket had no room for', async () => {
    const { account, ask } = await createKey(5);
    await ask(6);
    await waitUntil(() => idsOf(account).length === 2, 'a bucket has events');
    const [stream] = (await redis.cli('--scan', '--pattern', 'gw:*:events')).split('\n');
    await redis.cli('hset', `${stream}-taken`, 'lost', '7');
    await waitUntil(async () => {
      const metrics = await (await fetch(`${gateway.opsUrl}/metrics`)).text();
      return metrics.includes('\ntollgate_limit_events_lost_total 7\n');
    }, 'they are counted');
  });

  it('tells of a low balance, and shows no secret anywhere', async () => {
    const account = await admin(gateway).createAccount({ credits: 1_000 });
    const payment = { amount: -200, id: 'back', note: '' };
    await admin(gateway).call('POST', `/accounts/${account}/credits`, payment);
    await waitUntil(() => idsOf(account).length === 1, 'the webhook is told');
    expect(receiver.received.at(-1)?.event).toMatchObject({
      type: 'balance.low',
      data: { source: 'balance', amount: 900, counted: 800, key: null, window: null },
    });
    const shown = await admin(gateway).call('GET', '/webhooks');
    expect(shown).toMatchObject({ data: [{ name: 'billing', secrets: 2, failing_since: null }] });
    const cluster = await admin(gateway).call('GET', '/cluster');
    expect(JSON.stringify([shown, cluster]) + gateway.stderr()).not.toContain('whsec_');
  });

  it('sends a test event when it is asked to, and says what became of it', async () => {
    const test = (name: string) => admin(gateway).call('POST', `/webhooks/${name}/test`, {});
    expect(await test('billing')).toEqual({
      ...{ name: 'billing', delivered: true, status: 204, reason: null },
    });
    expect(receiver.received.at(-1)?.event.type).toBe('webhook.test');
    receiver.answer((response) => response.writeHead(302, { location: 'http://x.test/' }).end());
    expect(await test('billing')).toMatchObject({ delivered: false, status: 302 });
    receiver.answer(answerStatus(204));
    await expect(test('nobody')).rejects.toThrow('the settings have these webhooks: billing');
  });

  it('tells a limit once that a settlement lowers and a request raises again', async () => {
    const account = await admin(gateway).createAccount();
    const limits = [{ unit: 'tokens', window: '1d', amount: 4_000 }];
    const { key } = await admin(gateway).createKey(account, { limits });
    for (let time = 0; time < 3; time++) {
      await askModel(gateway.url, key, messageOf('Hi', { max_tokens: 3_300 }));
      await admin(gateway).waitUntilSettled(account);
    }
    await admin(gateway).call('PATCH', `/accounts/${account}`, { low_balance: 999.9 });
    const payment = { amount: -1, id: 'back', note: '' };
    await admin(gateway).call('POST', `/accounts/${account}/credits`, payment);
    await waitUntil(() => idsOf(account).length === 2, 'the balance is told of last');
    const { data } = await list(account);
    expect(data.map(({ type }) => type)).toEqual(['balance.low', 'limit.warning']);
  });

  it('repeats what fails, in the order of each account, and lets other accounts overtake', async () => {
    const [late, other] = [await createKey(5), await createKey(5)];
    // In turn: an error, a connection that is closed, a redirect.
    const refusals: Answer[] = [
      (response) => response.writeHead(500).end(),
      (response) => response.destroy(),
      (response) => response.writeHead(307, { location: receiver.url }).end(),
    ];
    let refused = 0;
    receiver.answer((response, received) => {
      const refuse = refusals[refused];
      if (received.event.data['account'] !== late.account || refuse === undefined) {
        response.writeHead(204).end();
        return;
      }
      refused += 1;
      refuse(response, received);
    });
    await late.ask(6);
    await waitUntil(() => refused > 0, 'the first attempt came');
    await other.ask(6);
    await waitUntil(() => idsOf(other.account).length === 2, 'the other account is told of both');
    const { data } = await list(late.account);
    const [reached, warning] = data.map(({ id }) => id);
    const state = await admin(gateway).call<{ data: object[] }>('GET', '/webhooks');
    expect(state.data[0]).toMatchObject({ waiting: expect.any(Number), dropped: 0 });
    await waitUntil(
      () => idsOf(late.account).at(-1) === reached,
      'both are told',
      RETRIED_WITHIN_MS,
    );
    expect(idsOf(late.account)).toEqual([warning, warning, warning, warning, reached]);
  });

  it('loses nothing when it is killed before the receiver has taken an event', async () => {
    const { account, ask } = await createKey(5);
    receiver.answer(answerStatus(503));
    await ask(6);
    // The script has told; perhaps nobody has taken the events out of their bucket yet.
    gateway.signal('SIGKILL');
    await gateway.waitForExit();
    receiver.answer(answerStatus(204));
    const config = settingsOf(receiver.url);
    gateway = await startGateway({ config, env, dataDir: gateway.dataDir, cleanUp });
    await waitUntil(
      async () => {
        const told = new Set(idsOf(account));
        const { data } = await list(account);
        return data.length === 2 && data.every(({ id }) => told.has(id));
      },
      'both events are told',
      RETRIED_WITHIN_MS,
    );
    expect(idsOf(account).at(-1)).toBe((await list(account)).data[0]?.id);
  });
});
