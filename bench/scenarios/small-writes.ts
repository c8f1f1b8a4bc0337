import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { report } from '../support/report.ts';
import { startNode } from '../support/start-node.ts';
import { summarise } from '../support/summarise.ts';

const UPSTREAM = 'dist/bench/support/paced-upstream-main.js';

const STREAMS = 8;
const EVENTS_PER_STREAM = 400;
const EVENT_INTERVAL_MS = 5;
const SMALL_REQUESTS = 1_000;
const ABORTS = 200;
const WARM_UPS = 50;
const ENDLESS = 1_000_000;

interface Target {
  readonly port: number;
  readonly key: string;
}

/**
 * Keeps connections open for the next request and calls the upstream with the same options as the
 * gateway.
 */
const agent = new Agent({ keepAlive: true, noDelay: true });

const nowNanos = () => process.hrtime.bigint();
const toMs = (nanos: bigint) => Number(nanos) / 1e6;

function ask({ port, key }: Target, content: string, isStream: boolean): ClientRequest {
  const body = JSON.stringify({
    ...{ model: 'haiku', max_tokens: 100, stream: isStream },
    messages: [{ role: 'user', content }],
  });
  const headers = {
    ...{ 'x-api-key': key, 'llm-version': '2023-06-01', 'content-type': 'application/json' },
    'content-length': Buffer.byteLength(body),
  };
  const sent = request({
    ...{ host: '127.0.0.1', port, path: '/v1/messages', method: 'POST', headers, agent },
  });
  sent.end(body);
  return sent;
}

async function waitForAnswer(sent: ClientRequest): Promise<IncomingMessage> {
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${await text(answer)}`);
  return answer;
}

/** From the upstream's write of an event until a client has read all of it. */
async function measureEvents(target: Target): Promise<number[]> {
  const delaysMs: number[] = [];
  const follow = async () => {
    const order = `paced ${EVENTS_PER_STREAM} ${EVENT_INTERVAL_MS}`;
    const answer = await waitForAnswer(ask(target, order, true));
    let rest = '';
    for await (const bytes of answer) {
      const arrivedNanos = nowNanos();
      const events = (rest + String(bytes)).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const [, sentNanos] = /@(\d+);/.exec(event) ?? [];
        if (sentNanos !== undefined) delaysMs.push(toMs(arrivedNanos - BigInt(sentNanos)));
      }
    }
  };
  await Promise.all(Array.from({ length: STREAMS }, follow));
  return delaysMs;
}

/**
 * Sends requests one at a time, so that nothing but the connections themselves can cause a delay.
 */
async function measureSmallRequests(target: Target, count: number): Promise<number[]> {
  const timesMs: number[] = [];
  for (let i = 0; i < count; i++) {
    const startedNanos = nowNanos();
    await text(await waitForAnswer(ask(target, 'Hi', false)));
    timesMs.push(toMs(nowNanos() - startedNanos));
  }
  return timesMs;
}

/** From the moment the client closes its connection until the upstream has lost its own. */
async function measureAborts(target: Target, upstream: NodeJS.EventEmitter): Promise<number[]> {
  const timesMs: number[] = [];
  for (let i = 0; i < ABORTS; i++) {
    const sent = ask(target, `paced ${ENDLESS} ${EVENT_INTERVAL_MS}`, true);
    const answer = await waitForAnswer(sent);
    answer.on('error', () => {});
    await once(answer, 'data');
    const closed = once(upstream, 'message') as Promise<[{ closedNanos: string }]>;
    const leftNanos = nowNanos();
    sent.destroy();
    const [{ closedNanos }] = await closed;
    timesMs.push(toMs(BigInt(closedNanos) - leftNanos));
  }
  return timesMs;
}

const upstream = fork(UPSTREAM);
const [{ port: upstreamPort }] = (await once(upstream, 'message')) as [{ port: number }];
const node = await startNode(`http://127.0.0.1:${upstreamPort}`);
const direct: Target = { port: upstreamPort, key: 'any' };
try {
  for (const target of [direct, node]) await measureSmallRequests(target, WARM_UPS);
  report('small-writes', {
    'event, direct': summarise(await measureEvents(direct)),
    'event, through the gateway': summarise(await measureEvents(node)),
    'small request, direct': summarise(await measureSmallRequests(direct, SMALL_REQUESTS)),
    'small request, through the gateway': summarise(
      await measureSmallRequests(node, SMALL_REQUESTS),
    ),
    'abort, direct': summarise(await measureAborts(direct, upstream)),
    'abort, through the gateway': summarise(await measureAborts(node, upstream)),
  });
} finally {
  agent.destroy();
  await node.stop();
  upstream.disconnect();
}
