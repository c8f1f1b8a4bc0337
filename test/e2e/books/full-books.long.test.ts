import { afterAll, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../../src/protocol/format-names.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { admin } from '../../support/clients/admin.ts';
import { askGateway, type ClientFormat } from '../../support/clients/ask-gateway.ts';
import { HAIKU } from '../../support/clients/ask-model.ts';
import { scrape } from '../../support/clients/scrape.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { startClockedRedis } from '../../support/servers/start-clocked-redis.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { startPostgres } from '../../support/servers/start-postgres.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** How many entries may wait. Those in Redis are counted every ten seconds. */
const WAITING_MAX = 30;
/** Entries that are in the books stay in Redis for ten minutes. */
const KEPT_SECONDS = 660;
const ROUND_MAX_MS = 90_000;

const cleanUp = useCleanUp();
afterAll(stopRedisServers);

interface Status {
  readonly entries: number;
  readonly repeats: number;
  readonly gaps: number;
}

describe('books that are away for too long', () => {
  it('refuse requests in all formats until they have caught up, and lose nothing', async () => {
    const postgres = await startPostgres(cleanUp);
    const redis = await startClockedRedis(['--appendonly', 'yes']);
    const books = `books: {url: "${postgres.url}?sslmode=disable", waiting_entries_max: ${WAITING_MAX}}\n`;
    const gateway = await startGateway({
      config: FAST_CONFIG + books,
      env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
      cleanUp,
    });
    const operator = admin(gateway);
    const account = await operator.createAccount();
    const { key } = await operator.createKey(account);
    const charged = new Set<string>();
    const ask = async (format: ClientFormat, isStream: boolean) => {
      const question = { url: gateway.url, key, model: HAIKU, format, isStream };
      const told = await askGateway(question);
      if (told.status === 200) charged.add(told.headers.get('request-id') ?? '');
      return told;
    };
    expect((await ask('native', false)).status).toBe(200);
    await operator.waitForBooks();

    await postgres.kill('SIGKILL');
    while (charged.size < 2 * WAITING_MAX) {
      const { status } = await ask('native', charged.size % 2 === 0);
      // They may be counted in the middle of this.
      if (status === 503 && charged.size > WAITING_MAX / 2) break;
      expect(status).toBe(200);
    }
    await waitUntil(
      async () => (await ask('chat', false)).status === 503,
      'nobody is admitted any more',
      ROUND_MAX_MS,
    );
    for (const isStream of [false, true]) {
      for (const format of FORMAT_NAMES) {
        const refused = await ask(format, isStream);
        const type = format === 'native' ? 'api_error' : 'server_error';
        expect(refused, format).toMatchObject({ status: 503, error: { type } });
        expect(refused.headers.get('retry-after'), format).toMatch(/^\d+$/);
      }
    }
    expect((await scrape(gateway)).sum('tollgate_books_waiting_entries')).toBeGreaterThan(
      WAITING_MAX,
    );
    await expect(operator.call('GET', `/usage?account=${account}`)).rejects.toThrow(
      /503 .*books_unavailable/,
    );

    await postgres.start();
    await operator.waitForBooks();
    await redis.setAhead(KEPT_SECONDS);
    await waitUntil(
      async () => (await ask('native', true)).status === 200,
      'requests are admitted again',
      ROUND_MAX_MS,
    );
    await operator.waitUntilSettled(account);
    const { entries } = await waitForEntries(charged.size);
    expect(entries).toBe(charged.size);
    const usage = await operator.call<Usage>('GET', `/usage?account=${account}&by=account`);
    expect(usage.total.requests).toBe(charged.size);
    const { balance } = await operator.account(account);
    expect(usage.paid - usage.total.charged).toBeCloseTo(balance, 6);

    async function waitForEntries(count: number): Promise<Status> {
      const read = () => operator.call<Status>('GET', '/books');
      await waitUntil(async () => (await read()).entries >= count, 'all are in the books');
      const status = await read();
      expect(status).toMatchObject({ gaps: 0, repeats: 0 });
      return status;
    }
  }, 240_000);
});

describe('a node that starts while the database is away', () => {
  it('refuses requests when too many entries wait', async () => {
    const redis = await startRedisServer();
    const { ledger } = keysOfBucket(7);
    for (let i = 0; i <= WAITING_MAX; i++) await redis.cli('xadd', ledger, '*', 'kind', 'any');
    const nobody = await findFreePort();
    const url = `postgres://postgres@127.0.0.1:${nobody}/postgres`;
    const gateway = await startGateway({
      config: `${FAST_CONFIG}books: {url: "${url}", waiting_entries_max: ${WAITING_MAX}}\n`,
      env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
      cleanUp,
    });
    const operator = admin(gateway);
    const { key } = await operator.createKey(await operator.createAccount());
    const question = { url: gateway.url, key, model: HAIKU, format: 'native' as const };
    await waitUntil(
      async () => (await askGateway({ ...question, isStream: false })).status === 503,
      'nobody is admitted',
    );
    expect((await scrape(gateway)).sum('tollgate_books_waiting_entries')).toBeGreaterThan(
      WAITING_MAX,
    );
  });
});

interface Usage {
  readonly paid: number;
  readonly total: { readonly requests: number; readonly charged: number };
}
