import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ensureDemoKey } from '../../src/accounts/ensure-demo-key.ts';
import { forgetKey } from '../../src/books/duties/forget-key.ts';
import { parseApiKey } from '../../src/keys/api-key.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { closeConnections, standalone, tcp } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { openDirectory, type TestDirectory } from './use-directory.ts';

const BALANCE_MICROS = 1_000_000_000;
const WRITES = ['ensureKey', 'ensureAccount', 'addCredits'] as const;

let redis: TestRedisServer;
let directory: TestDirectory;

beforeAll(async () => {
  redis = await startRedisServer();
  directory = await openDirectory(standalone(tcp(redis.port)));
});
beforeEach(async () => {
  await redis.cli('flushall');
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

async function expectDemo(key: string): Promise<void> {
  expect(await directory.check(key)).toBe('known');
  const { accounts } = await directory.listAccounts({ limit: 10 });
  expect(accounts).toMatchObject([
    { name: 'demo', plan: 'pro', status: 'active', balanceMicros: BALANCE_MICROS },
  ]);
  expect(await directory.listKeys(accounts[0]?.id ?? '')).toHaveLength(1);
}

/** A directory whose process is killed before or after one of its writes. */
function killedAt(write: (typeof WRITES)[number], isWritten: boolean): TestDirectory {
  const killed = async (...args: unknown[]) => {
    if (isWritten) await (directory[write] as (...all: unknown[]) => Promise<unknown>)(...args);
    throw new Error('killed');
  };
  return { ...directory, [write]: killed };
}

describe('the demo key', () => {
  it('works, and stays the same at every start', async () => {
    const dataDir = createTempDir();
    const key = await ensureDemoKey({ dataDir, directory });
    await expectDemo(key);
    expect(await ensureDemoKey({ dataDir, directory })).toBe(key);
    await expectDemo(key);
  });

  it('can be read in the data folder, by its owner alone', async () => {
    const dataDir = createTempDir();
    const key = await ensureDemoKey({ dataDir, directory });
    expect(readFileSync(join(dataDir, 'demo-key'), 'utf8')).toBe(`${key}\n`);
    expect(statSync(join(dataDir, 'demo-key')).mode & 0o777).toBe(0o600);
  });

  for (const write of WRITES) {
    for (const isWritten of [false, true]) {
      it(`is complete after a kill ${isWritten ? 'behind' : 'before'} ${write}`, async () => {
        const dataDir = createTempDir();
        const first = ensureDemoKey({ dataDir, directory: killedAt(write, isWritten) });
        await expect(first).rejects.toThrow('killed');
        await expectDemo(await ensureDemoKey({ dataDir, directory }));
      });
    }
  }

  it('is made anew where a start was cut off while it wrote the file', async () => {
    const dataDir = createTempDir();
    writeFileSync(join(dataDir, 'demo-key.new'), 'sk-gw2-');
    await expectDemo(await ensureDemoKey({ dataDir, directory }));
    expect(existsSync(join(dataDir, 'demo-key.new'))).toBe(false);
  });

  it('is made anew where the file has none that could work', async () => {
    const dataDir = createTempDir();
    writeFileSync(join(dataDir, 'demo-key'), `sk-gw2-${'x'.repeat(49)}\n`);
    await expectDemo(await ensureDemoKey({ dataDir, directory }));
  });

  it('works again when Redis has lost everything', async () => {
    const dataDir = createTempDir();
    const key = await ensureDemoKey({ dataDir, directory });
    await redis.cli('flushall');
    expect(await ensureDemoKey({ dataDir, directory })).toBe(key);
    await expectDemo(key);
  });

  it('is another one when the file is gone', async () => {
    const dataDir = createTempDir();
    const lost = await ensureDemoKey({ dataDir, directory });
    rmSync(join(dataDir, 'demo-key'));
    const key = await ensureDemoKey({ dataDir, directory });
    expect(key).not.toBe(lost);
    expect(await directory.check(key)).toBe('known');
  });

  it('is not brought back by a start after it was revoked or its credits were spent', async () => {
    const dataDir = createTempDir();
    const key = await ensureDemoKey({ dataDir, directory });
    const [account] = (await directory.listAccounts({ limit: 1 })).accounts;
    const [record] = await directory.listKeys(account?.id ?? '');
    await directory.revokeKey(record?.id ?? '');
    const spent = { micros: -BALANCE_MICROS, id: 'spent', note: '' };
    await directory.addCredits(account?.id ?? '', spent);
    await ensureDemoKey({ dataDir, directory });
    expect(await directory.check(key)).toBe('revoked');
    expect(await directory.getAccount(account?.id ?? '')).toMatchObject({ balanceMicros: 0 });
  });

  it('is not brought back by a start after its record was forgotten', async () => {
    const dataDir = createTempDir();
    const key = await ensureDemoKey({ dataDir, directory });
    const [account] = (await directory.listAccounts({ limit: 1 })).accounts;
    const { keyId = '', bucket = 0 } = parseApiKey(key) ?? {};
    await directory.revokeKey(keyId);
    const order = { bucket, accountId: account?.id ?? '', keyId, months: new Map() };
    const forgotten = await forgetKey(directory.connection, { ...order, mayRemove: true });
    expect(forgotten).toMatchObject({ isRemoved: true });
    await ensureDemoKey({ dataDir, directory });
    expect(await directory.check(key)).toBe('unknown');
  });
});
