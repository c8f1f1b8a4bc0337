import { beforeAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { readCluster, readUpstream } from '../../support/clients/read-cluster.ts';
import { startBackend } from '../../support/servers/start-backend.ts';
import { launchGateway, startGateway } from '../../support/servers/start-gateway.ts';
import { useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createIdentity, type Identity } from '../../upstream/http1/create-identity.ts';

let identity: Identity;
beforeAll(() => {
  identity = createIdentity('DNS:models.example.com');
});

const upstream = (url: string, settings: string) =>
  `upstreams: [{name: main, kind: native, url: "${url}", ${settings}}]\n`;

describe('an upstream', () => {
  it('gets its key and its own headers with each request and each probe, and nobody else sees them', async () => {
    const main = await startBackend('main');
    const settings = 'api_key: top-secret, headers: {X-Team: "Team hush-hush"}, probe: {}';
    const gateway = await startGateway({
      config: `workers: 1\nlog_level: debug\n${upstream(main.url, settings)}`,
    });
    const answer = await askModel(gateway.url, gateway.key(), messageOf('Hi'));
    expect(answer.status).toBe(200);
    await waitUntil(() => main.calls.probes > 0, 'it is probed');
    const own = { 'x-api-key': 'top-secret', 'x-team': 'Team hush-hush' };
    const sent = { ...own, 'user-agent': 'tollgate' };
    expect(main.headers.message).toMatchObject(sent);
    expect(main.headers.probe).toMatchObject({ ...sent, 'anthropic-version': '2023-06-01' });
    const shown = JSON.stringify(await readCluster(gateway));
    for (const text of [shown, gateway.stderr(), gateway.stdout()]) {
      expect(text).not.toMatch(/top-secret|hush/);
    }
  });

  it('is trusted only with a certificate of the authority, and for the name, in its settings', async () => {
    const main = await startBackend('main', { tls: identity });
    const ca = `ca_file: ${identity.certPath}`;
    const settings = {
      right: `${ca}, server_name: models.example.com`,
      'of-another-name': ca,
      'of-no-authority': 'server_name: models.example.com',
    };
    const names = Object.keys(settings);
    const gateway = await startGateway({
      env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      config: [
        'workers: 1',
        'models:',
        ...names.map(
          (name) =>
            `  - {id: ${name}, max_output_tokens: 8192, price: {input: 1, output: 5}, routes: [{upstream: ${name}}]}`,
        ),
        'upstreams:',
        ...Object.entries(settings).map(
          ([name, tls]) => `  - {name: ${name}, kind: native, url: "${main.url}", tls: {${tls}}}`,
        ),
        '',
      ].join('\n'),
    });
    const ask = async (model: string) =>
      (await askModel(gateway.url, gateway.key(), messageOf('Hi', { model }))).status;
    expect(await Promise.all(names.map(ask))).toEqual([200, 502, 502]);
    expect(main.calls.messages).toBe(1);
  });

  it('whose authorities cannot be read keeps the node from starting', async () => {
    const main = await startBackend('main');
    for (const file of ['/nowhere/ca.pem', '/etc/hostname']) {
      const gateway = await launchGateway({
        config: `workers: 1\n${upstream(main.url.replace('http', 'https'), `tls: {ca_file: ${file}}`)}`,
      });
      expect(await gateway.waitForExit()).toBe(1);
      expect(gateway.stderr()).toContain('tls.ca_file of the upstream main cannot be used');
    }
  });

  it('has its places shared by the workers, at least one for each', async () => {
    const gateway = await startGateway({
      config: `workers: 2
upstreams:
  - {name: odd, kind: simulated, max_concurrency: 5}
  - {name: single, kind: simulated, max_concurrency: 1}
`,
    });
    const placesOf = async (name: string) =>
      (await readUpstream(gateway, name)).workers
        .map(({ worker, max_concurrency }) => [worker, max_concurrency])
        .toSorted();
    await waitUntil(async () => (await placesOf('odd')).length === 2, 'both workers have told');
    expect(await placesOf('odd')).toEqual([
      [1, 3],
      [2, 2],
    ]);
    expect(await placesOf('single')).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });
});

describe('GET /admin/v1/cluster', () => {
  const node = useGateway({
    config:
      'workers: 1\nupstreams: [{name: main, kind: simulated, simulated: {latency: 0ms}, max_concurrency: 9}]\n',
  });

  it('shows the node, its workers, its upstreams and the store', async () => {
    const gateway = node();
    const stream = await openStream(
      gateway.url,
      gateway.key(),
      messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 }),
    );
    await waitUntil(
      async () => (await readUpstream(gateway, 'main')).workers[0]?.in_flight === 1,
      'the stream is told',
    );
    const [pid] = gateway.workerPids();
    const worker = { worker: 1, pid };
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(await readCluster(gateway)).toMatchObject({
      node: {
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        version: expect.any(String),
        started_at: time,
        config: { path: gateway.configPath, version: expect.stringMatching(/^[\da-f]{12}-1$/) },
      },
      workers: [{ ...worker, state: 'listening', started_at: time }],
      upstreams: [
        {
          ...{ name: 'main', kind: 'simulated', url: null, state: 'closed', probe: null },
          models: ['llm-opus-4.7', 'llm-sonnet-4.6', 'llm-haiku-4.5'],
          workers: [{ ...worker, state: 'closed', in_flight: 1, max_concurrency: 9, rest_ms: 0 }],
          tries: {
            ...{ ok: 0, refused: 0, overloaded: 0, broken: 0, unreachable: 0, denied: 0, slow: 0 },
            ...{ left: 0, fault: 0 },
          },
        },
      ],
      redis: { state: 'up', embedded: true, topology: 'standalone', out_for_ms: 0 },
    });
    stream.leave();
    await waitUntil(
      async () => (await readUpstream(gateway, 'main')).tries['left'] === 1,
      'the client that left is told',
    );
  });

  it('keeps what a worker that has ended had tried', async () => {
    const gateway = node();
    await askModel(gateway.url, gateway.key(), messageOf('Hi'));
    const countOk = async () => (await readUpstream(gateway, 'main')).tries['ok'];
    await waitUntil(async () => (await countOk()) === 1, 'it is told');
    const [pid] = gateway.workerPids();
    await fetch(`${gateway.url}/probe/crash`).catch(() => {});
    await waitUntil(
      async () => (await readCluster(gateway)).workers.some((each) => each.pid !== pid),
      'the worker is replaced',
    );
    expect(await countOk()).toBe(1);
    await waitUntil(
      () => gateway.workerPids().some((each) => each !== pid),
      'the next one listens',
    );
    await askModel(gateway.url, gateway.key(), messageOf('Hi'));
    await waitUntil(async () => (await countOk()) === 2, 'both are told');
  });

  it('tells how long the store has been out', async () => {
    const gateway = node();
    const store = Number(gateway.logLines().find((line) => line['redisPid'])?.['redisPid']);
    const readRedis = async () => (await readCluster(gateway)).redis;
    process.kill(store, 'SIGSTOP');
    const sinceMs = performance.now();
    await waitUntil(async () => (await readRedis()).out_for_ms > 0, 'it is out');
    const first = await readRedis();
    expect(first.state).toBe('out');
    await waitUntil(
      async () => (await readRedis()).out_for_ms >= first.out_for_ms + 1_000,
      'it is out for longer',
    );
    // It counts from the last answer, which may be a second old.
    const { out_for_ms: outForMs } = await readRedis();
    expect(outForMs).toBeLessThan(performance.now() - sinceMs + 2_000);
    process.kill(store, 'SIGCONT');
    await waitUntil(async () => (await readRedis()).state === 'up', 'it is back');
    expect((await readRedis()).out_for_ms).toBe(0);
  });

  it('takes no query', async () => {
    await expect(admin(node()).call('GET', '/cluster?all=1')).rejects.toThrow(/400.*no such field/);
  });
});
