import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startHaproxy } from '../../support/balancers/start-haproxy.ts';
import { startNginx } from '../../support/balancers/start-nginx.ts';
import { admin } from '../../support/clients/admin.ts';
import { messageOf } from '../../support/clients/ask-model.ts';
import { scrape } from '../../support/clients/scrape.ts';
import type { CleanUp } from '../../support/create-temp-dir.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_UPSTREAM } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

const CLIENTS = 12;
const STREAMS = 12;
const TOKENS = 40;
/**
 * The pause between an answer and the client's next request: the nodes are busy, and the machine
 * has room for their starts.
 */
const THINK_MS = 25;
/** Each stream outlasts the drain of its node. */
const STREAMED = messageOf(`[[tokens ${TOKENS}]] [[slow 40]]`, { stream: true });
const WHOLE = messageOf('Hello [[tokens 5]]');

interface Tally {
  readonly failures: string[];
  whole: number;
  streamed: number;
}

/** Clients that ask again and again, each over its own connection. */
function startClients(url: string, key: string) {
  const tally: Tally = { failures: [], whole: 0, streamed: 0 };
  let isStopped = false;
  const post = async (client: Client, body: object) => {
    const answer = await client.request({
      method: 'POST',
      path: '/v1/messages',
      headers: {
        'x-api-key': key,
        'llm-version': '2023-06-01',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text}`);
    return text;
  };
  const askOnce = async (client: Client, isStream: boolean) => {
    const text = await post(client, isStream ? STREAMED : WHOLE);
    if (!isStream) {
      tally.whole += 1;
      return;
    }
    if (!text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')) {
      throw new Error(`a stream was cut: ${text.slice(-200)}`);
    }
    if (text.split('event: content_block_delta').length - 1 !== TOKENS) {
      throw new Error('a stream lacks some of its tokens');
    }
    tally.streamed += 1;
  };
  const runClient = async (isStream: boolean) => {
    const client = new Client(url);
    while (!isStopped) {
      await askOnce(client, isStream).catch((error) => tally.failures.push(String(error)));
      await sleep(THINK_MS);
    }
    await client.close();
  };
  const running = [
    ...Array.from({ length: CLIENTS }, () => runClient(false)),
    ...Array.from({ length: STREAMS }, () => runClient(true)),
  ];
  return {
    tally,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

async function restart(node: Gateway, redisPort: number): Promise<Gateway> {
  node.signal('SIGTERM');
  expect(await node.waitForExit()).toBe(0);
  return startGateway({
    port: node.port,
    dataDir: node.dataDir,
    config: `workers: 2\n${FAST_UPSTREAM}`,
    env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redisPort}` },
  });
}

type StartBalancer = (
  ports: readonly [number, number],
  cleanUp: CleanUp,
) => Promise<{ readonly url: string }>;

const BALANCERS: Readonly<Record<string, StartBalancer>> = {
  HAProxy: startHaproxy,
  nginx: startNginx,
};

/** Under load the balancer sends requests to every node that it trusts. */
const waitUntilAsked = (node: Gateway) =>
  waitUntil(
    async () => ((await scrape(node)).sum('tollgate_requests_total') ?? 0) > 0,
    'the balancer sends to the node',
  );

describe.each(Object.entries(BALANCERS))('two nodes behind %s', (_name, startBalancer) => {
  it('are restarted one after the other under load: no stream is cut, no request fails, all is settled', async () => {
    const { nodes, redis } = await startNodes();
    const operator = admin(nodes[0]);
    const account = await operator.createAccount();
    const { id, key } = await operator.createKey(account);
    const balancer = await startBalancer([nodes[0].port, nodes[1].port], onTestFinished);
    const clients = startClients(balancer.url, key);
    const { tally } = clients;

    const waitForMore = async () => {
      const { whole, streamed } = tally;
      await waitUntil(
        () => tally.whole > whole + 100 && tally.streamed > streamed + STREAMS,
        'more is answered',
      );
    };
    await waitForMore();
    const first = await restart(nodes[0], redis.port);
    await waitUntilAsked(first);
    await waitForMore();
    const second = await restart(nodes[1], redis.port);
    await waitUntilAsked(second);
    await waitForMore();
    await clients.stop();

    expect(tally.failures).toEqual([]);
    const books = admin(first);
    await books.waitUntilSettled(account);
    const { balance } = await books.account(account);
    expect((await books.key(id)).spent_this_month).toBeCloseTo(1_000 - balance, 6);
  });
});
