import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { HAIKU, messageOf } from '../support/clients/ask-model.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { readAdminToken } from '../support/servers/start-browser.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { eventsOf } from '../support/upstreams/flood-events.ts';
import {
  startWaitingUpstream,
  type WaitingCall,
  type WaitingUpstream,
} from '../support/upstreams/start-waiting-upstream.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const MARK = 'x-tollgate-answered-by';
/** Headers that belong to one answer or one connection. */
const OWN_HEADERS = new Set([
  'date',
  'connection',
  'keep-alive',
  'request-id',
  'x-request-id',
  MARK,
]);

const UNKNOWN_KEY = 'sk-gw2-unknown';
const cleanUp = useCleanUp();
let upstream: WaitingUpstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startWaitingUpstream({ cleanUp });
  const model = 'max_output_tokens: 8192, price: {input: 1, output: 5}';
  gateway = await startGateway({
    cleanUp,
    config: `
workers: 1
models:
  - {id: ${HAIKU}, ${model}, routes: [{upstream: simulated}]}
  - {id: waiting, ${model}, routes: [{upstream: waiting}]}
upstreams:
  - {name: simulated, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}
  - {name: waiting, kind: native, url: "${upstream.url}"}
`,
  });
});

function relay(
  to: Gateway,
  call: object,
  { token = readAdminToken(to), signal }: { token?: string; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`${to.opsUrl}/admin/v1/playground`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(call),
    ...(signal && { signal }),
  });
}

/** Asks for a stream of the upstream that answers what the test says, when the test says so. */
async function askForStream(
  signal?: AbortSignal,
): Promise<{ answering: Promise<Response>; call: WaitingCall }> {
  const before = upstream.calls.length;
  const body = JSON.stringify(messageOf('Hi', { stream: true, model: 'waiting' }));
  const call = { format: 'native', key: gateway.key(), body };
  const answering = relay(gateway, call, signal && { signal });
  await waitUntil(() => upstream.calls.length > before, 'the upstream is asked');
  return { answering, call: upstream.calls[before] as WaitingCall };
}

describe('the playground route', () => {
  it('passes a stream on event by event, as it comes', async () => {
    const { answering, call } = await askForStream();
    const { res } = call;
    const events = eventsOf('native');
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(events.begin());
    const answer = await answering;
    expect([answer.status, answer.headers.get(MARK)]).toEqual([200, 'api']);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(answer.headers.get('request-id')).toMatch(/^req_/);

    let arrived = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const bytes of answer.body ?? []) arrived += decoder.decode(bytes);
    })();
    for (const number of [1, 2]) {
      res.write(events.say(number, 20));
      // The upstream sends nothing more until this has arrived.
      await waitUntil(() => arrived.includes(`"${number}.xx`), `piece ${number} arrives`);
    }
    res.end(events.end(2));
    await reading;
    expect(arrived).toMatch(/event: message_stop\n.*\n\n$/);
  });

  it.each(['before', 'after'])(
    'ends the upstream when its client leaves %s the head',
    async (when) => {
      const leaving = new AbortController();
      const { answering, call } = await askForStream(leaving.signal);
      if (when === 'after') {
        call.res.writeHead(200, { 'content-type': 'text/event-stream' });
        call.res.write(eventsOf('native').begin());
        await answering;
      }
      expect(call.isBrokenOff()).toBe(false);
      leaving.abort();
      await answering.catch(() => {});
      await waitUntil(call.isBrokenOff, 'the upstream loses its connection');
    },
  );

  it('answers what the API answers, refusals too', async () => {
    const native = JSON.stringify(messageOf('Hi'));
    const cases = [
      { format: 'native', key: gateway.key(), body: native },
      { format: 'chat', key: gateway.key(), body: native },
      { format: 'native', key: UNKNOWN_KEY, body: native },
      { format: 'chat', key: UNKNOWN_KEY, body: native },
      { format: 'native', key: gateway.key(), body: '{' },
      { format: 'chat', key: gateway.key(), body: '' },
      { format: 'native', key: gateway.key(), body: native.replace('haiku', 'unknown') },
    ];
    const statuses: number[] = [];
    for (const call of cases) {
      const path = call.format === 'native' ? '/v1/messages' : '/v1/chat/completions';
      const direct = await fetch(gateway.url + path, {
        method: 'POST',
        headers: {
          ...{ 'x-api-key': call.key, 'llm-version': '2023-06-01' },
          'content-type': 'application/json',
        },
        body: call.body,
      });
      const relayed = await relay(gateway, call);
      expect(relayed.headers.get(MARK)).toBe('api');
      expect(relayed.status).toBe(direct.status);
      expect(namesOf(relayed)).toEqual(namesOf(direct));
      expect(withoutIds(await relayed.text())).toBe(withoutIds(await direct.text()));
      statuses.push(relayed.status);
    }
    expect(statuses).toEqual([200, 200, 401, 401, 400, 400, 404]);
  });

  it('wants the admin token and all of its fields before anybody is asked', async () => {
    const call = { format: 'native', key: gateway.key(), body: '{}' };
    const refused = await relay(gateway, call, { token: 'wrong' });
    expect([refused.status, refused.headers.get(MARK)]).toEqual([401, null]);
    const wrong = await relay(gateway, { format: 'other', key: 'a\nb', body: {} });
    expect([wrong.status, wrong.headers.get(MARK)]).toEqual([400, null]);
    const { error } = (await wrong.json()) as { error: { fields: { field: string }[] } };
    expect(error.fields.map(({ field }) => field)).toEqual(['format', 'key', 'body']);
    const long = await relay(gateway, { ...call, body: 'a'.repeat(64 * 1024) });
    expect([long.status, long.headers.get(MARK)]).toEqual([413, null]);
  });

  it('reaches an API that listens on a unix socket, and says when it cannot be reached', async () => {
    const path = join(createTempDir(), 'api.sock');
    const node = await startGateway({
      config: FAST_CONFIG,
      env: { TOLLGATE_LISTEN: `unix:${path}` },
    });
    const call = { format: 'native', key: node.key(), body: JSON.stringify(messageOf('Hi')) };
    const answer = await relay(node, call);
    expect([answer.status, answer.headers.get(MARK)]).toEqual([200, 'api']);
    expect(await answer.text()).toContain('"type":"message"');
    rmSync(path);
    const unreached = await relay(node, call);
    expect([unreached.status, unreached.headers.get(MARK)]).toEqual([502, null]);
    expect(await unreached.text()).toContain('api_unreachable');
    const key = node.key();
    node.signal('SIGTERM');
    expect(await node.waitForExit()).toBe(0);
    expect(node.stderr()).toContain('worker listens');
    expect(node.stderr()).not.toContain(key);
  });

  it('breaks off where the API breaks off', async () => {
    const { answering, call } = await askForStream();
    const { res } = call;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(eventsOf('native').begin());
    const answer = await answering;
    const [pid = 0] = gateway.workerPids();
    process.kill(pid, 'SIGKILL');
    await expect(answer.text()).rejects.toThrow();
    expect(gateway.stderr()).not.toContain('a request of an operator failed');
  });

  it('writes no key to the log', async () => {
    const key = gateway.key();
    gateway.signal('SIGTERM');
    await gateway.waitForExit();
    expect(gateway.stderr()).toContain('worker listens');
    for (const secret of [key, UNKNOWN_KEY]) expect(gateway.stderr()).not.toContain(secret);
  });
});

function namesOf({ headers }: Response): string[] {
  return [...headers.keys()].filter((name) => !OWN_HEADERS.has(name)).toSorted();
}

/** Ids and times differ between any two answers. */
function withoutIds(body: string): string {
  return body
    .replaceAll(/(req|msg|chatcmpl)[-_]\w+/g, 'ID')
    .replaceAll(/"created":\d+/g, '"created":0');
}
