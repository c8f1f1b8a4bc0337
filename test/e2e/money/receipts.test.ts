import { afterAll, describe, expect, it } from 'vitest';
import { receiptAnswer } from '../../../src/ops/schemas/answer-schemas.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, HAIKU, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

const MODEL = 'max_output_tokens: 8192, price: {input: 1, output: 5}';
const CONFIG = `
workers: 1
models:
  - {id: ${HAIKU}, ${MODEL}, routes: [{upstream: simulated}]}
  - {id: retried, ${MODEL}, routes: [{upstream: away}, {upstream: simulated, priority: 2}]}
upstreams:
  - {name: simulated, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}
  - {name: away, kind: native, url: "http://127.0.0.1:1", api_key: k}
`;
const DATE = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface Receipt {
  readonly state: 'running' | 'ended';
  readonly held: number;
  readonly seen: number;
  readonly charged: number;
  readonly price: { readonly version: string } | null;
  readonly times: Readonly<Record<string, number>>;
}

interface Cluster {
  readonly node: { readonly config: { readonly version: string } };
}

async function createCaller(gateway: Parameters<typeof admin>[0]) {
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits: 10 });
  const { id, key } = await operator.createKey(account);
  const receiptOf = (requestId: string | null) =>
    operator.call<Receipt>('GET', `/requests/${requestId}`);
  return {
    account,
    id,
    key,
    operator,
    receiptOf,
    async settledReceiptOf(requestId: string | null) {
      await operator.waitUntilSettled(account);
      return await receiptOf(requestId);
    },
  };
}

const gateway = useGateway({ config: CONFIG });

describe('a receipt', () => {
  it('has everything about a whole answer but what was said', async () => {
    const { account, id, key, operator, settledReceiptOf } = await createCaller(gateway());
    const body = messageOf('a secret [[tokens 17]]');
    const answer = await askModel(gateway().url, key, body);
    const requestId = answer.headers.get('request-id');
    const { usage } = answer.body;
    const charged = Number(answer.headers.get('x-tollgate-credits-charged'));
    const receipt = await settledReceiptOf(requestId);
    expect(receiptAnswer.safeParse(receipt).error).toBeUndefined();
    expect(receipt).toEqual({
      id: requestId,
      state: 'ended',
      account,
      account_name: expect.toBeOneOf(['test', null]),
      key: id,
      key_name: null,
      masked_key: expect.stringMatching(new RegExp(`^sk-gw2-.*${key.slice(-4)}$`)),
      model: HAIKU,
      month: expect.stringMatching(/^20\d{4}$/),
      kind: 'charge',
      held: expect.any(Number),
      charged,
      short: 0,
      balance_after: 10 - charged,
      usage: {
        input: usage?.input_tokens,
        cache_read: 0,
        cache_write_5m: 0,
        cache_write_1h: 0,
        output: 17,
        thinking: 0,
        searches: 0,
        estimated: false,
      },
      asked: {
        format: 'native',
        stream: false,
        body_bytes: JSON.stringify(body).length,
        estimated_input_tokens: expect.any(Number),
        max_tokens: 100,
      },
      catalogue_version: null,
      config_version: (await operator.call<Cluster>('GET', '/cluster')).node.config.version,
      price: {
        version: expect.stringMatching(/^[0-9a-f]{12}$/),
        input: 1,
        output: 5,
        cache_read: 0.1,
        cache_write_5m: 1.25,
        cache_write_1h: 2,
      },
      answered: {
        ...{ upstream: 'simulated', outcome: 'complete', status: 200, refusal: null },
        usage_implausible: false,
      },
      tries: [{ upstream: 'simulated', result: 'ok' }],
      times: {
        started_at: DATE,
        body_ms: expect.any(Number),
        admitted_ms: expect.any(Number),
        first_event_ms: expect.any(Number),
        total_ms: expect.any(Number),
        upstream_wait_ms: expect.any(Number),
        client_wait_ms: expect.any(Number),
      },
      ledger: [
        expect.objectContaining({ kind: 'charge', time: DATE, charged, held: receipt.held }),
      ],
    });
    expect(receipt.held).toBeGreaterThan(charged);
    expect(JSON.stringify(receipt)).not.toContain('secret');
  });

  it('says running, and what is held, until the request has ended', async () => {
    const { key, receiptOf, settledReceiptOf } = await createCaller(gateway());
    // It goes on for as long as nothing of its cost is noted, which is five seconds.
    const stream = await openStream(gateway().url, key, messageOf('[[tokens 90]] [[slow 60]]'));
    const requestId = stream.requestId;
    const running = await receiptOf(requestId);
    expect(running).toMatchObject({ id: requestId, state: 'running', seen: 0 });
    expect(running.held).toBeGreaterThan(0);
    await stream.ended;
    expect(await settledReceiptOf(requestId)).toMatchObject({
      state: 'ended',
      asked: { stream: true },
      usage: { output: 90 },
    });
  });

  it('of a stream that its client left in the middle has what was delivered', async () => {
    const { key, settledReceiptOf } = await createCaller(gateway());
    const body = messageOf('[[tokens 8000]] [[slow 10]]', { max_tokens: 8_000 });
    const stream = await openStream(gateway().url, key, body);
    await waitUntil(() => stream.text().split('content_block_delta').length > 20, 'it says much');
    stream.leave();
    const receipt = await settledReceiptOf(stream.requestId);
    expect(receipt).toMatchObject({
      kind: 'charge',
      usage: { estimated: true },
      answered: { outcome: 'left', status: 200, refusal: null },
      tries: [{ upstream: 'simulated', result: 'left' }],
    });
    expect(receipt.charged).toBeGreaterThan(0);
    expect(receipt.charged).toBeLessThan(receipt.held);
  });

  it('of an answer that failed says why, and that it was free', async () => {
    const { key, settledReceiptOf } = await createCaller(gateway());
    const answer = await askModel(gateway().url, key, messageOf('[[error 400]]'));
    expect(await settledReceiptOf(answer.headers.get('request-id'))).toMatchObject({
      kind: 'release',
      charged: 0,
      answered: { outcome: 'undelivered', status: 400, refusal: 'invalid_request' },
    });
  });

  it('is not there for a request that never came', async () => {
    const { receiptOf } = await createCaller(gateway());
    for (const id of [`req_${'0'.repeat(24)}`, 'nonsense']) {
      await expect(receiptOf(id)).rejects.toThrow(/404 .*the ledger has no such request/);
    }
  });

  it('names every try of an answer that came after a retry', async () => {
    const { key, settledReceiptOf } = await createCaller(gateway());
    const answer = await askModel(gateway().url, key, messageOf('Hi', { model: 'retried' }));
    expect(answer.status).toBe(200);
    expect(await settledReceiptOf(answer.headers.get('request-id'))).toMatchObject({
      answered: { upstream: 'simulated', outcome: 'complete', status: 200 },
      tries: [
        { upstream: 'away', result: 'unreachable' },
        { upstream: 'simulated', result: 'ok' },
      ],
    });
  });

  it('of a request whose worker was killed has what the sweeper charged', async () => {
    const redis = await startRedisServer();
    const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    const node = await startGateway({ config: CONFIG, env });
    const { key, receiptOf, settledReceiptOf } = await createCaller(node);
    const body = messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 });
    const stream = await openStream(node.url, key, body);
    const { requestId } = stream;
    await waitUntil(async () => (await receiptOf(requestId)).seen > 0, 'its cost is noted');
    for (const pid of node.workerPids()) process.kill(pid, 'SIGKILL');
    await stream.ended;
    const { seen } = await receiptOf(requestId);
    // Otherwise the lease would run for another minute.
    const [renewals] = (await redis.cli('--scan', '--pattern', '*renewals')).split('\n');
    await redis.cli('ZADD', renewals ?? '', '0', requestId ?? '');
    expect(await settledReceiptOf(requestId)).toMatchObject({
      state: 'ended',
      kind: 'expired',
      charged: seen,
      usage: null,
      asked: null,
      ledger: [{ kind: 'expired', charged: seen }],
    });
  });
});

it('a receipt of a stream from an upstream of any kind says that it was complete', async () => {
  const vendor = await createCaller(gateway());
  const kinds = ['native', 'chat', 'responses'];
  const relay = await startGateway({
    config: [
      'workers: 1',
      'models:',
      ...kinds.map((kind) => `  - {id: ${kind}, ${MODEL}, routes: [{upstream: ${kind}}]}`),
      'upstreams:',
      ...kinds.map(
        (kind) =>
          `  - {name: ${kind}, kind: ${kind}, url: "${gateway().url}", api_key: ${vendor.key}, model_names: {${kind}: ${HAIKU}}}`,
      ),
      '',
    ].join('\n'),
  });
  const { key, settledReceiptOf } = await createCaller(relay);
  for (const kind of kinds) {
    const body = messageOf('Hi [[tokens 5]]', { model: kind });
    const stream = await openStream(relay.url, key, body);
    await stream.ended;
    expect(stream.text(), kind).toContain('message_stop');
    const answered = expect.objectContaining({ outcome: 'complete', upstream: kind });
    expect(await settledReceiptOf(stream.requestId), kind).toMatchObject({ answered });
  }
});
