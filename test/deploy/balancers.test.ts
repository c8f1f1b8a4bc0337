import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHaproxy } from '../support/balancers/start-haproxy.ts';
import { startNginx } from '../support/balancers/start-nginx.ts';
import { admin } from '../support/clients/admin.ts';
import { messageOf, openStream } from '../support/clients/ask-model.ts';
import { inventKey } from '../support/clients/invent-key.ts';
import { scrape } from '../support/clients/scrape.ts';
import type { CleanUp } from '../support/create-temp-dir.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { eventsOf } from '../support/upstreams/flood-events.ts';
import {
  startWaitingUpstream,
  type WaitingCall,
} from '../support/upstreams/start-waiting-upstream.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';

afterAll(stopRedisServers);

type StartBalancer = (
  ports: readonly [number, number],
  cleanUp: CleanUp,
) => Promise<{ readonly url: string }>;

const BALANCERS: Readonly<Record<string, StartBalancer>> = {
  nginx: startNginx,
  haproxy: startHaproxy,
};
const PIECE_BYTES = 20;

const events = eventsOf('native');
function postMessage(url: string, key: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'llm-version': '2023-06-01', 'content-type': 'application/json' },
    body: JSON.stringify(messageOf('Hi')),
    ...(signal && { signal }),
  });
}

/** Sends from an address that no other test uses, since this address gets blocked. */
function askModels(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    get(`${url}/v1/models`, { headers, localAddress: '127.0.0.2', agent: false }, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    }).on('error', reject);
  });
}

async function killWorkerInCharge(nodes: readonly Gateway[]): Promise<void> {
  const busy: Gateway[] = [];
  await waitUntil(async () => {
    for (const node of nodes) {
      if ((await scrape(node)).sum('tollgate_upstream_in_flight') === 1) busy.push(node);
    }
    return busy.length > 0;
  }, 'a node tells that it waits for the upstream');
  for (const pid of busy[0]?.workerPids() ?? []) process.kill(pid, 'SIGKILL');
}

/** Two nodes behind a balancer, and an upstream that answers nothing by itself. */
async function startSite(startBalancer: StartBalancer, cleanUp: CleanUp) {
  const upstream = await startWaitingUpstream({ cleanUp });
  const redis = await startRedisServer();
  const startNode = () =>
    startGateway({
      config: [
        'workers: 1',
        `upstreams: [{name: main, kind: native, url: "${upstream.url}"}]`,
        'guards: {trusted_proxies: 1, failed_keys_per_minute: 1}',
        'on_leave: {timeout: 500ms}',
        '',
      ].join('\n'),
      env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
      cleanUp,
    });
  const nodes = await Promise.all([startNode(), startNode()]);
  const { url } = await startBalancer([nodes[0].port, nodes[1].port], cleanUp);
  return { url, nodes, upstream, operator: admin(nodes[0]) };
}

type Site = Awaited<ReturnType<typeof startSite>>;

function useSite(startBalancer: StartBalancer): () => Site {
  const cleanUp = useCleanUp();
  let site: Site | undefined;
  beforeAll(async () => {
    site = await startSite(startBalancer, cleanUp);
  });
  return () => {
    if (site === undefined) throw new Error('the site has not started');
    return site;
  };
}

/** A separate key for a test, and the calls that the upstream gets from now on. */
async function begin({ upstream, operator }: Site) {
  const account = await operator.createAccount();
  const { key } = await operator.createKey(account);
  const earlier = upstream.calls.length;
  const calls = () => upstream.calls.slice(earlier);
  const waitForCall = async (): Promise<WaitingCall> => {
    await waitUntil(() => calls().length === 1, 'the upstream is asked');
    const [call] = calls();
    if (call === undefined) throw new Error('the upstream was not asked');
    return call;
  };
  return { account, key, calls, waitForCall };
}

describe.each(Object.entries(BALANCERS))('behind %s', (name, startBalancer) => {
  const site = useSite(startBalancer);

  it('each event reaches the client while the upstream still writes', async () => {
    const { key, waitForCall } = await begin(site());
    const opening = openStream(site().url, key, messageOf('Hi'));
    const { res } = await waitForCall();
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(events.begin());
    const stream = await opening;
    for (let number = 0; number < 3; number++) {
      res.write(events.say(number, PIECE_BYTES));
      await waitUntil(() => stream.text().includes(`"${number}.x`), `piece ${number} has come`);
    }
    expect(res.writableEnded).toBe(false);
    res.end(events.end(3));
    await stream.ended;
    expect(stream.text()).toMatch(/message_stop"\}\n\n$/);
  });

  it('a client that leaves before anything was answered pays its input, and frees the upstream when its time is up', async () => {
    const { url, operator } = site();
    const { account, key, waitForCall } = await begin(site());
    const leaving = new AbortController();
    const asking = postMessage(url, key, leaving.signal);
    const call = await waitForCall();
    leaving.abort();
    await expect(asking).rejects.toThrow();
    await waitUntil(call.isBrokenOff, 'the upstream loses its connection');
    await operator.waitUntilSettled(account);
    const { balance } = await operator.account(account);
    expect(balance).toBeLessThan(1_000);
    expect(balance).toBeGreaterThan(999.99);
  });

  it('a request whose node dies is never sent to the other one', async () => {
    const { url, nodes } = site();
    const { key, calls, waitForCall } = await begin(site());
    const asking = postMessage(url, key);
    await waitForCall();
    await killWorkerInCharge(nodes);
    let told: unknown;
    const answered = asking.then(
      ({ status }) => {
        told = status;
      },
      () => {
        told = 'closed';
      },
    );
    await waitUntil(
      () => told !== undefined || calls().length > 1,
      'the client is told, or the request is repeated',
    );
    expect(calls()).toHaveLength(1);
    await answered;
    // If its connection to the node had served requests before, HAProxy 3 sends no answer: it
    // closes the client's connection.
    expect(name === 'haproxy' ? [502, 'closed'] : [502]).toContain(told);
    await waitUntil(
      () => nodes.every((node) => node.workerPids().length === 1),
      'the worker is replaced',
    );
  });

  it('the address that counts is the one that the balancer saw, whatever the client claims', async () => {
    const { url } = site();
    let knocks = 0;
    const knock = () => {
      knocks += 1;
      return askModels(url, {
        'x-api-key': inventKey(),
        'x-forwarded-for': `10.0.${knocks >> 8}.${knocks & 255}`,
      });
    };
    // Each node counts separately, and in the end both block this address.
    await waitUntil(async () => {
      const answers = await Promise.all(Array.from({ length: 4 }, knock));
      return answers.every((status) => status === 429);
    }, 'wrong keys are refused, though each comes from an address of its own by its own word');
  });
});
