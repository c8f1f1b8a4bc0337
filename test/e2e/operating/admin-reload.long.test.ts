import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'undici';
import { describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import {
  askModel,
  HAIKU,
  messageOf,
  openStreamUntilAnswered,
} from '../../support/clients/ask-model.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const VERSION = /^([0-9a-f]{12})-(\d+)$/;

async function reload(gateway: Gateway) {
  const token = readFileSync(join(gateway.dataDir, 'admin-token'), 'utf8').trim();
  const response = await fetch(`${gateway.opsUrl}/admin/v1/reload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function readAudit(gateway: Gateway): Promise<Readonly<Record<string, unknown>>[]> {
  const { data } = await admin(gateway).call<{ data: Record<string, unknown>[] }>('GET', '/audit');
  return data;
}

/** The process that takes a new connection. `fetch` would reuse an open connection. */
async function askPid({ url }: Gateway): Promise<number> {
  const client = new Client(url);
  const { body } = await client.request({ method: 'GET', path: '/probe/pid' });
  const { pid } = (await body.json()) as { pid: number };
  await client.close();
  return pid;
}

interface Settings {
  readonly output: number;
  readonly starter: number;
  readonly routed: string;
  readonly more?: string;
}

/** Every upstream is fast, and one of them always fails. */
const settingsOf = ({ output, starter, routed, more = '' }: Settings) => `
workers: 2
plans: {starter: ${starter}, pro: 1000000, team: 1000000}
upstreams:
  - {name: fine, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}
  - {name: broken, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms, error_rate: 1}}
models:
  - {id: ${HAIKU}, max_output_tokens: 8000, price: {input: 0, output: ${output}}, routes: [{upstream: fine}]}
  - {id: routed, max_output_tokens: 8000, price: {input: 0, output: 1}, routes: [{upstream: ${routed}}]}
${more}`;

const BEFORE = settingsOf({ output: 5, starter: 2, routed: 'broken' });
const AFTER = settingsOf({
  ...{ output: 10, starter: 50, routed: 'fine' },
  more: '  - {id: fresh, max_output_tokens: 8000, price: {input: 0, output: 1}, routes: [{upstream: fine}]}\n',
});

/** What the settings do with some requests. */
async function lookAt(gateway: Gateway, plain: string, starter: string) {
  const ask = (key: string, more: object = {}) =>
    askModel(gateway.url, key, messageOf('[[tokens 50]]', more));
  const priced = await ask(plain);
  const limited = await ask(starter);
  return {
    charged: priced.headers.get('x-tollgate-credits-charged'),
    starterLimit: limited.headers.get('anthropic-ratelimit-requests-limit'),
    routed: (await ask(plain, { model: 'routed' })).status < 500,
    fresh: (await ask(plain, { model: 'fresh' })).status,
  };
}

describe('a reload over the admin API', () => {
  const node = useGateway({ config: 'workers: 1\n' });

  it('gives new requests new prices, plans, routes and models, cuts no stream and fails no request', async () => {
    const gateway = await startGateway({ config: BEFORE });
    const oldPids = gateway.workerPids();
    const operator = admin(gateway);
    const { key } = await operator.createKey(await operator.createAccount());
    const starterAccount = await operator.createAccount({ plan: 'starter' });
    const { key: starter } = await operator.createKey(starterAccount);
    expect(await lookAt(gateway, key, starter)).toEqual({
      ...{ charged: '0.00025', starterLimit: '2', routed: false, fresh: 404 },
    });

    const failures: unknown[] = [];
    let answered = 0;
    let isStopped = false;
    const runClient = async () => {
      while (!isStopped) {
        const answer = await askModel(gateway.url, key, messageOf('Hi')).catch(String);
        if (typeof answer === 'string') failures.push(answer);
        else if (answer.status !== 200) failures.push(answer.status);
        else answered++;
      }
    };
    const clients = Array.from({ length: 8 }, runClient);
    const streams = await Promise.all(
      Array.from({ length: 6 }, () =>
        openStreamUntilAnswered(
          gateway.url,
          key,
          messageOf('[[tokens 150]] [[slow 50]]', { max_tokens: 1_000 }),
        ),
      ),
    );
    await waitUntil(() => answered > 100, 'the load is on its way');

    gateway.setConfig(AFTER);
    const { status, body } = await reload(gateway);
    expect([status, body]).toMatchObject([200, { status: 'reloaded', needs_restart: [] }]);
    const pids = await Promise.all(Array.from({ length: 10 }, () => askPid(gateway)));
    expect(pids.filter((pid) => oldPids.includes(pid))).toEqual([]);
    const expected = { charged: '0.0005', starterLimit: '50', routed: true, fresh: 200 };
    // An idle connection may carry one more request to its old worker.
    await waitUntil(async () => {
      const found = await lookAt(gateway, key, starter);
      return Object.entries(expected).every(([name, value]) => Reflect.get(found, name) === value);
    }, 'every request is answered by the new settings');
    const answeredThen = answered;
    await waitUntil(() => answered > answeredThen + 100, 'the load goes on');
    isStopped = true;
    await Promise.all(clients);
    await Promise.all(streams.map(({ ended }) => ended));
    expect(failures).toEqual([]);
    for (const stream of streams) {
      expect(stream.text()).toMatch(/"output_tokens":150\b[\s\S]*event: message_stop/);
    }
  });

  it('refuses a wrong file whole, with all problems, and changes nothing', async () => {
    const gateway = node();
    const pids = gateway.workerPids();
    gateway.setConfig('workers: many\nunknown: 1\nlimits: {body_bytes: 1KiB}\n');
    const wrong = await reload(gateway);
    expect(wrong).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'invalid_config',
          problems: [
            expect.stringContaining('tollgate.yaml:1: workers'),
            expect.stringContaining('tollgate.yaml:2: unknown'),
          ],
          needs_restart: [],
        },
      },
    });
    gateway.setConfig('workers: 2\nredis: {url: "redis://127.0.0.1:1/0"}\nlog_level: warn\n');
    expect(await reload(gateway)).toMatchObject({
      status: 400,
      body: {
        error: {
          problems: ['redis.url: needs a restart to change'],
          needs_restart: ['redis.url'],
        },
      },
    });
    expect(gateway.workerPids()).toEqual(pids);
    expect(await readAudit(gateway)).toEqual([]);
  });

  it('names the settings by a version, is done one at a time, and is in the audit log', async () => {
    const gateway = node();
    gateway.setConfig('workers: 1\n');
    const first = reload(gateway);
    const others = [reload(gateway), reload(gateway)];
    const answers = await Promise.all([first, ...others]);
    const versions = answers.map(({ body }) => VERSION.exec(String(body['config_version'])));
    const counts = versions.map((version) => version?.[2]).toSorted();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    // The two reloads that were asked for during the first share the next run.
    expect(counts).toEqual(['2', '3', '3']);
    expect(new Set(versions.map((version) => version?.[1])).size).toBe(1);

    gateway.setConfig('workers: 1\nlimits: {body_bytes: 1KiB}\n');
    gateway.signal('SIGHUP');
    await waitUntil(async () => (await readAudit(gateway)).length === 4, 'it is in the audit log');
    const [last] = await readAudit(gateway);
    expect(last).toMatchObject({
      what: 'node.reload',
      who: { via: 'signal', token: null, address: null },
      before: { config_version: versions.find((version) => version?.[2] === '3')?.[0] },
      after: { config_version: expect.stringMatching(/-4$/) },
    });
    const hash = versions[0]?.[1];
    expect(JSON.stringify(last?.['after'])).not.toContain(hash);
  });
});
