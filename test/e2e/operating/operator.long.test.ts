import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { scrape } from '../../support/clients/scrape.ts';
import { blockOf, readPage } from '../../support/read-docs.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const gateway = useGateway({ config: FAST_CONFIG });
afterAll(stopRedisServers);

const run = promisify(execFile);

/**
 * Runs the commands that a person types in a checkout. It does not block this process, which has to
 * notice when a server closes its idle connections.
 */
async function shell(node: Gateway, script: string): Promise<string> {
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TOLLGATE_ADMIN_URL: node.opsUrl,
      TOLLGATE_DATA_DIR: node.dataDir,
    },
  });
  return stdout;
}

describe('an operator', () => {
  it('gets an account and a working key from the commands of the documents', async () => {
    const commands = blockOf(readPage('keys-and-accounts'), 'sh');
    const printed = await shell(
      gateway(),
      commands.replace('http://127.0.0.1:8080', gateway().url),
    );
    expect(printed).toContain('"object":"chat.completion"');
    const key = /sk-gw2-[0-9A-Za-z]{49}/.exec(printed)?.[0] ?? '';
    expect((await askModel(gateway().url, key, messageOf('Hi'))).status).toBe(200);
  });

  it('finds a clean ledger while requests run, and a drift that somebody made by hand', async () => {
    const operator = admin(gateway());
    const account = await operator.createAccount({ credits: 5 });
    const { key } = await operator.createKey(account);
    await Promise.all(
      Array.from({ length: 20 }, () => askModel(gateway().url, key, messageOf('Hi'))),
    );
    await operator.waitUntilSettled(account);
    expect(JSON.parse(await shell(gateway(), 'npx tollgate ledger verify --json'))).toMatchObject({
      drifts: [],
    });
    const exported = await shell(gateway(), `npx tollgate ledger export --account ${account}`);
    const entries = exported
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; charged_micros: number });
    expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(20);
    const sum = entries.reduce((total, entry) => total + entry.charged_micros, 0);
    expect((await operator.account(account)).balance).toBeCloseTo(-sum / 1e6, 9);

    const socket = resolve(gateway().dataDir, 'redis.sock');
    const redis = async (...command: string[]) =>
      (await run('redis-cli', ['-s', socket, ...command])).stdout.trim();
    const record = await redis('--scan', '--pattern', `*account:${account}`);
    await redis('HINCRBY', record, 'balance', '1');
    await expect(shell(gateway(), 'npx tollgate ledger verify')).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining(account),
    });
    const waitForDrifts = (drifts: number) =>
      waitUntil(
        async () => (await scrape(gateway())).sum('tollgate_books_drifts') === drifts,
        `the metric tells of ${drifts} drifts`,
      );
    await waitForDrifts(1);
    await shell(gateway(), `npx tollgate ledger verify --accept ${account} --reason by-hand`);
    await waitForDrifts(0);
    const { data: changes } = await operator.call<{ data: object[] }>(
      'GET',
      `/audit?account=${account}&limit=1`,
    );
    expect(changes).toMatchObject([{ what: 'ledger.accept', after: { reason: 'by-hand' } }]);
    await redis('HINCRBY', record, 'balance', '-1');
  });

  it('keeps accounts, keys and spend when the node is stopped and started again', async () => {
    const first = await startGateway({ config: FAST_CONFIG });
    const account = await admin(first).createAccount({ credits: 5 });
    const { id, key } = await admin(first).createKey(account);
    expect((await askModel(first.url, key, messageOf('Hi'))).status).toBe(200);
    await admin(first).waitUntilSettled(account);
    const before = await admin(first).key(id);
    first.signal('SIGTERM');
    expect(await first.waitForExit()).toBe(0);
    const next = await startGateway({ config: FAST_CONFIG, dataDir: first.dataDir });
    expect(await admin(next).key(id)).toEqual(before);
    expect((await askModel(next.url, key, messageOf('Hi'))).status).toBe(200);
    expect(next.key()).toBe(first.key());
  });
});
