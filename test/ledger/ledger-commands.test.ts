import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runLedgerExportCommand } from '../../src/cli/commands/ledger-export-command.ts';
import { runLedgerVerifyCommand } from '../../src/cli/commands/ledger-verify-command.ts';
import { ENVIRONMENT_OVERRIDES } from '../../src/config/source/environment-overrides.ts';
import { LEDGER_CSV_HEAD } from '../../src/ledger/encode-ledger-csv.ts';
import { parseLedgerLine } from '../../src/ledger/ledger-entry.ts';
import { startLedgerExporter } from '../../src/ledger/start-ledger-exporter.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { AUDIT_KEY } from '../../src/redis/redis-keys.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import {
  makeTempFolder,
  startRedisServer,
  stopRedisServers,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  begin,
  createAccount,
  HASTY_PACE,
  readSegments,
  serve,
  streamPlaces,
  type TestAccount,
} from './ledger-scene.ts';

let connection: TestConnection;
let dataDir = '';
let configPath = '';
let account: TestAccount;
let out: string[] = [];
let err: string[] = [];

beforeAll(async () => {
  for (const { variable } of ENVIRONMENT_OVERRIDES) vi.stubEnv(variable, undefined);
  const server = await startRedisServer();
  connection = openConnection(standalone(tcp(server.port)));
  await waitForRedis(connection);
  dataDir = makeTempFolder();
  configPath = join(dataDir, 't.yaml');
  writeFileSync(configPath, `data_dir: ${dataDir}\n`);
  // The place where a node has the socket of its own server.
  symlinkSync(server.socketPath, join(dataDir, 'redis.sock'));
  account = await createAccount(connection, 8, 5_000_000);
  await createAccount(connection, 9);
  await serve(connection, account);
  await exportAll();
  await serve(connection, account);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await closeConnections();
  await stopRedisServers();
});
beforeEach(() => {
  out = [];
  err = [];
});

async function exportAll(): Promise<void> {
  const dir = join(dataDir, 'ledger');
  const clock = { nowMs: () => Date.now() + 1_000 };
  const log = createMemoryLog();
  const pace = { ...HASTY_PACE, keepMs: 0 };
  const exporter = startLedgerExporter({ connection, dir, nodeId: 'a', clock, log, pace });
  await waitUntil(async () => {
    const isHere = await readSegments(dir).catch(() => []);
    return isHere.length === 3;
  }, 'everything is exported');
  const isTrimmed = async () => (await streamPlaces(connection, [8, 9])).size <= 2;
  await waitUntil(isTrimmed, 'the streams are trimmed');
  await exporter.stop();
}

const printing = {
  out: (text: string) => {
    out.push(text);
  },
  err: (text: string) => {
    err.push(text);
  },
  progress: () => {},
};

function verify({ json = false, isRepair = false, dataDirs = [] as string[] } = {}) {
  return runLedgerVerifyCommand({ configPath, dataDirs, json, isRepair, ...printing });
}

function exportLedger(format: 'ndjson' | 'csv', accountId?: string, dataDirs: string[] = []) {
  const options = { configPath, dataDirs, account: accountId, format, ...printing };
  return runLedgerExportCommand(options);
}

describe('tollgate ledger verify', () => {
  it('says that all agree, and returns 0', async () => {
    expect(await verify()).toBe(0);
    expect(out.join('\n').split('\n')).toEqual([
      'entries: 4, accounts: 2, months of keys: 1',
      'The ledger and Redis agree.',
    ]);
    expect(err).toEqual([]);
  });

  it('names each figure that differs, and returns 1', async () => {
    const { bucket, id } = account;
    const record = keysOfBucket(bucket).account(id);
    await connection.send('hincrby', [record, 'balance', '2500000']);
    expect(await verify()).toBe(1);
    expect(out.join('\n').split('\n')).toEqual([
      'entries: 4, accounts: 2, months of keys: 1',
      `drift    ${id}: balance should be 4.9986 and is 7.4986`,
      'The ledger and Redis do NOT agree.',
    ]);
    out = [];
    expect(await verify({ json: true })).toBe(1);
    expect(JSON.parse(out.join(''))).toMatchObject({
      is_clean: false,
      entries: 4,
      drifts: [{ account: id, what: 'balance_micros', expected: 4_998_600, found: 7_498_600 }],
    });
    await connection.send('hincrby', [record, 'balance', '-2500000']);
  });

  it('repairs what accounts and keys hold, by the requests that run, and enters what it was', async () => {
    const { bucket, id, keyId } = account;
    const { account: accountKey, key, holds } = keysOfBucket(bucket);
    const running = await begin(connection, account, { heldMicros: 700 });
    const field = `held:${running.month}`;
    await connection.send('hset', [accountKey(id), 'held', '-500300']);
    await connection.send('hset', [key(keyId), 'in_flight', '-4', field, '-9', 'held:202001', '8']);
    expect(await verify()).toBe(1);
    expect(out.join('\n')).toContain(`${id}: held should be 0.0007 and is -0.5003`);
    out = [];
    expect(await verify({ isRepair: true })).toBe(0);
    expect(out.join('\n').split('\n').sort()).toEqual(
      [
        'entries: 4, accounts: 2, months of keys: 1',
        `repaired ${id}: held was -500300 and is 700`,
        `repaired ${id} ${keyId}: ${field} was -9 and is 700`,
        `repaired ${id} ${keyId}: held:202001 was 8 and is 0`,
        `repaired ${id} ${keyId}: in_flight was -4 and is 1`,
        'The ledger and Redis agree.',
      ].sort(),
    );
    const entries = (await connection.send('xrevrange', [AUDIT_KEY, '+', '-'])) as string[][];
    const [ofKey, ofAccount] = entries.map(([, fields]) => JSON.parse(fields?.[5] ?? ''));
    const who = { via: 'cli', token: null, address: null };
    expect(ofAccount).toMatchObject({
      ...{ what: 'ledger.repair', who, account: id, key: null, outcome: 'done' },
      ...{ before: { held: '-500300' }, after: { held: '700' } },
    });
    expect(ofKey).toMatchObject({
      key: keyId,
      before: { in_flight: '-4' },
      after: { in_flight: '1' },
    });
    expect(await verify()).toBe(0);
    await connection.send('hdel', [holds, running.requestId]);
    expect(await verify({ isRepair: true })).toBe(0);
    expect(await connection.send('hget', [accountKey(id), 'held'])).toBe('0');
  });

  it('repairs no balance: that is what the ledger says', async () => {
    const record = keysOfBucket(account.bucket).account(account.id);
    await connection.send('hincrby', [record, 'balance', '5']);
    expect(await verify({ isRepair: true })).toBe(1);
    expect(out.join('\n')).toContain('balance should be');
    await connection.send('hincrby', [record, 'balance', '-5']);
  });

  it('looks into the folders that are named, and says what none of them has', async () => {
    const other = makeTempFolder();
    mkdirSync(join(other, 'ledger'));
    expect(await verify({ dataDirs: [other] })).toBe(1);
    expect(out.join('\n')).toMatch(/^missing {2}bucket 8: what was entered after 0-0 up to \d/m);
    expect(await verify({ dataDirs: [other, dataDir] })).toBe(0);
  });

  it('returns 1 for settings that are wrong', async () => {
    const wrong = join(dataDir, 'wrong.yaml');
    writeFileSync(wrong, 'workers: none\n');
    const options = { configPath: wrong, dataDirs: [], json: false, isRepair: false, ...printing };
    expect(await runLedgerVerifyCommand(options)).toBe(1);
    expect(err.join('\n')).toContain('workers');
  });

  it('returns 1 when Redis is away', async () => {
    const elsewhere = join(dataDir, 'elsewhere.yaml');
    writeFileSync(elsewhere, `data_dir: ${makeTempFolder()}\n`);
    const options = {
      configPath: elsewhere,
      dataDirs: [],
      json: false,
      isRepair: false,
      ...printing,
    };
    expect(await runLedgerVerifyCommand(options)).toBe(1);
    expect(err).toEqual([expect.stringContaining('Redis does not answer')]);
  });
});

describe('tollgate ledger export', () => {
  it('prints every entry once, from segments and from Redis', async () => {
    expect(await exportLedger('ndjson')).toBe(0);
    const entries = out.join('\n').split('\n').map(parseLedgerLine);
    expect(entries.map(({ kind }) => kind).toSorted()).toEqual([
      'charge',
      'charge',
      'topup',
      'topup',
    ]);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(4);
  });

  it('prints a table, and one account alone', async () => {
    expect(await exportLedger('csv', account.id)).toBe(0);
    const [head, ...rows] = out.join('\n').split('\n');
    expect(head).toBe(LEDGER_CSV_HEAD);
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(row).toContain(account.id);
  });

  it('returns 1 when something is missing', async () => {
    expect(await exportLedger('ndjson', undefined, [makeTempFolder()])).toBe(1);
    expect(err).toEqual([expect.stringContaining('not complete')]);
  });
});
