import { fork } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseApiKey } from '../../src/keys/api-key.ts';
import type { RefusalBatch } from '../../src/lib/refusal-batch.ts';
import { openDirectory } from '../accounts/use-directory.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import type { WorkerNews, WorkerOrder } from '../support/fork-worker-main.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { closeConnections, standalone, tcp } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const PROGRAM = 'dist/test/support/fork-worker-main.js';

let redis: TestRedisServer;
/** The key of an account without credits. */
let key: string;

beforeAll(async () => {
  redis = await startRedisServer();
  const directory = await openDirectory(standalone(tcp(redis.port)));
  const account = await directory.createAccount({ name: 'Acme', plan: 'team' });
  key = (await directory.createKey(account.id, {})).key;
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

interface Stage {
  readonly url: string;
  readonly batches: RefusalBatch[];
  send(order: WorkerOrder): void;
  waitForNews(type: WorkerNews['type']): Promise<void>;
}

/** A worker below a primary that passes on its batches. */
async function startStage({ areBooksFull = false } = {}): Promise<Stage> {
  const port = await findFreePort();
  const news: WorkerNews[] = [];
  const batches: RefusalBatch[] = [];
  const primary = fork(PROGRAM, {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  primary.on('message', (message: WorkerNews) => {
    news.push(message);
    if (message.type === 'refusals') batches.push(message.batch);
  });
  const send = (order: WorkerOrder) => void primary.send(order);
  const waitForNews = (type: WorkerNews['type']) =>
    waitUntil(() => news.some((one) => one.type === type), `the worker is said to be ${type}`);
  onTestFinished(async () => {
    send({ type: 'drain' });
    await waitForNews('exited').finally(() => primary.kill('SIGKILL'));
  });
  const settings = `${FAST_CONFIG}
listen: 127.0.0.1:${port}
redis: {url: "redis://127.0.0.1:${redis.port}"}
log_level: error
`;
  send({ type: 'start', settings, areBooksFull });
  await waitForNews('listening');
  return { url: `http://127.0.0.1:${port}`, batches, send, waitForNews };
}

const countsOf = (batches: readonly RefusalBatch[]) =>
  batches
    .flatMap(({ counts }) => counts)
    .map(({ keyId, model, refusal, count }) => ({ keyId, model, refusal, count }));

describe('a worker that refuses requests', () => {
  it('tells its primary how many and which', async () => {
    const { url, batches } = await startStage();
    const keyId = parseApiKey(key)?.keyId;
    expect((await askModel(url, key, messageOf('Hello'))).status).toBe(402);
    await waitUntil(() => batches.length > 0, 'a batch arrives');
    expect(countsOf(batches)).toEqual([
      { keyId, model: 'llm-haiku-4.5', refusal: 'balance_too_low', count: 1 },
    ]);
    expect(batches[0]?.samples).toMatchObject([
      { keyId, status: 402, refusal: 'balance_too_low', format: 'native', isStream: false },
    ]);
    expect(batches[0]?.samples[0]?.requestId).toMatch(/^req_/);
  });

  it('names the key of a request that it refused by itself once the store knew the key', async () => {
    const { url, batches } = await startStage();
    const keyId = parseApiKey(key)?.keyId;
    const bad = () => askModel(url, key, { model: 'no-such-model' });
    expect((await bad()).status).toBe(400);
    await askModel(url, key, messageOf('Hello'));
    expect((await bad()).status).toBe(400);
    await waitUntil(() => countsOf(batches).length >= 3, 'the batches arrive');
    expect(countsOf(batches).filter(({ model }) => model === '')).toEqual([
      { keyId: '', model: '', refusal: 'missing_field', count: 1 },
      { keyId, model: '', refusal: 'missing_field', count: 1 },
    ]);
  });

  it('tells the last ones when it has drained', async () => {
    const { url, batches, send, waitForNews } = await startStage();
    const asked = Promise.all(
      Array.from({ length: 30 }, () => askModel(url, 'wrong', messageOf('Hello'))),
    );
    expect((await asked).map(({ status }) => status)).toEqual(Array(30).fill(401));
    send({ type: 'drain' });
    await waitForNews('exited');
    const total = countsOf(batches).reduce((sum, { count }) => sum + count, 0);
    expect(total).toBe(30);
    expect(countsOf(batches)[0]).toMatchObject({ keyId: '', refusal: 'unauthenticated' });
  });
});

describe('a worker whose primary says that the books are full', () => {
  it('admits nobody until the primary says otherwise', async () => {
    const { url, batches, send } = await startStage();
    send({ type: 'books_full', isFull: true });
    const statusOf = async () => (await askModel(url, key, messageOf('Hello'))).status;
    await waitUntil(async () => (await statusOf()) === 503, 'the worker refuses');
    const { headers, body } = await askModel(url, key, messageOf('Hello'));
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
    expect(body.error?.type).toBe('api_error');
    await waitUntil(
      () => countsOf(batches).some(({ refusal }) => refusal === 'books_full'),
      'the refusals are told',
    );
    send({ type: 'books_full', isFull: false });
    await waitUntil(async () => (await statusOf()) === 402, 'the worker asks the store again');
  });

  it('refuses from its first request if it starts meanwhile', async () => {
    const { url } = await startStage({ areBooksFull: true });
    expect((await askModel(url, key, messageOf('Hello'))).status).toBe(503);
  });
});
