import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listSegments, readSegmentHeader } from '../../src/ledger/segment-files.ts';
import { startLedgerExporter } from '../../src/ledger/start-ledger-exporter.ts';
import { verifyLedger } from '../../src/ledger/verify-ledger.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { EXPORTER_KEY } from '../../src/redis/redis-keys.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { NO_AUTH, openConnection, tcp, waitForRedis } from '../support/servers/redis-connection.ts';
import { makeTempFolder, startRedisServer } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  createAccount,
  fillBuckets,
  HASTY_PACE,
  placesOf,
  readSegments,
  streamPlaces,
} from './ledger-scene.ts';
import { useLedgerServer, waitUntilExported } from './use-ledger-server.ts';

const BUCKETS = [0, 17, 255];

const store = useLedgerServer(BUCKETS);

describe('trimming', () => {
  it('removes what stands in a segment and is old enough, and nothing else', async () => {
    const dir = makeTempFolder();
    let aheadMs = 0;
    const { waitForRounds } = store.startExporter({
      dir,
      nowMs: () => Date.now() + aheadMs,
      pace: { keepMs: 600_000 },
    });
    const places = await fillBuckets(store.connection, BUCKETS);
    await waitUntilExported(dir, places);
    await waitForRounds(2);
    expect(await streamPlaces(store.connection, BUCKETS)).toEqual(places);
    aheadMs = 660_000;
    await waitUntil(
      async () => (await streamPlaces(store.connection, BUCKETS)).size <= BUCKETS.length,
      'the streams are trimmed',
    );
  });

  it('stops at what has been exported, however old the rest is', async () => {
    const dir = makeTempFolder();
    const exported = await fillBuckets(store.connection, BUCKETS);
    const first = store.startExporter({ dir });
    await waitUntilExported(dir, exported);
    await first.exporter.stop();
    // From here on it gathers and writes nothing.
    const { waitForRounds } = store.startExporter({
      dir,
      nowMs: () => Date.now() + 3_600_000,
      pace: { keepMs: 0, gatherMs: 3_600_000 },
    });
    const all = await fillBuckets(store.connection, BUCKETS);
    await waitForRounds(3);
    const left = await streamPlaces(store.connection, BUCKETS);
    for (const place of all) if (!exported.has(place)) expect(left).toContain(place);
  });

  it('waits while the disk fails, and begins anew when its folder is gone', async () => {
    const dir = join(makeTempFolder(), 'ledger');
    mkdirSync(dir);
    const { log } = store.startExporter({ dir, pace: { keepMs: 0 } });
    const before = await fillBuckets(store.connection, BUCKETS);
    await waitUntilExported(dir, before);
    renameSync(dir, `${dir}.away`);
    writeFileSync(dir, 'in the way');
    const all = await fillBuckets(store.connection, BUCKETS);
    const fresh = [...all].filter((place) => !before.has(place));
    await waitUntil(() => log.lines.some(({ level }) => level === 'error'), 'the trouble is told');
    expect([...(await streamPlaces(store.connection, BUCKETS))]).toEqual(
      expect.arrayContaining(fresh),
    );
    rmSync(dir);
    await waitUntilExported(dir, new Set(fresh));
    await waitUntil(
      () => log.lines.at(-1)?.message === 'the ledger is exported again',
      'it says so',
    );
  });
});

describe('two nodes', () => {
  it('export one at a time, and the second takes over without a loss', async () => {
    const [dirA, dirB] = [makeTempFolder(), makeTempFolder()];
    const a = store.startExporter({ dir: dirA, nodeId: 'a' });
    const early = await fillBuckets(store.connection, BUCKETS);
    await waitUntilExported(dirA, early);
    store.startExporter({ dir: dirB, nodeId: 'b' });
    const middle = await fillBuckets(store.connection, BUCKETS);
    await waitUntilExported(dirA, middle);
    expect(await listSegments(dirB)).toEqual([]);
    await a.exporter.stop();
    const all = await fillBuckets(store.connection, BUCKETS);
    await waitUntilExported(dirB, all);
    expect(await store.connection.send('get', [EXPORTER_KEY])).toBe('b');
    expect(placesOf([...(await readSegments(dirA)), ...(await readSegments(dirB))])).toEqual(all);
  });

  it('claim nothing that the other one has trimmed', async () => {
    const [dirA, dirB] = [makeTempFolder(), makeTempFolder()];
    const a = store.startExporter({ dir: dirA, nodeId: 'a', pace: { keepMs: 0 } });
    await waitUntilExported(dirA, await fillBuckets(store.connection, BUCKETS));
    await waitUntil(
      async () => (await streamPlaces(store.connection, BUCKETS)).size === BUCKETS.length,
      'the streams are trimmed',
    );
    await a.exporter.stop();
    store.startExporter({ dir: dirB, nodeId: 'b' });
    await waitUntilExported(dirB, await streamPlaces(store.connection, BUCKETS));
    const [segment] = await listSegments(dirB);
    const { before } = await readSegmentHeader(segment?.path ?? '');
    expect(Object.keys(before)).toEqual(BUCKETS.map(String));
    for (const id of Object.values(before)) expect(id).not.toBe('0-0');
  });

  it('share a lease that only its holder gives up', async () => {
    const dir = makeTempFolder();
    await store.connection.send('set', [EXPORTER_KEY, 'another']);
    await fillBuckets(store.connection, BUCKETS);
    const { exporter, waitForCalls } = store.startExporter({ dir });
    await waitForCalls(3);
    await exporter.stop();
    expect(await store.connection.send('get', [EXPORTER_KEY])).toBe('another');
    expect(await listSegments(dir)).toEqual([]);
  });
});

describe('a new master', () => {
  it('may give ids below the last one, and they are exported once that is noted', async () => {
    const dir = makeTempFolder();
    const { exporter, waitForRounds } = store.startExporter({ dir });
    await createAccount(store.connection, 17);
    const { ledger } = keysOfBucket(17);
    await waitUntilExported(dir, await streamPlaces(store.connection, [17]));
    const [topup] = (await store.connection.send('xrange', [ledger, '-', '+'])) as [
      string,
      string[],
    ][];
    if (topup === undefined) throw new Error('there is an entry');
    // As if the entry had been lost and came back from a clock that is a minute behind.
    await store.connection.send('del', [ledger]);
    const lower = `${Number(topup[0].split('-')[0]) - 60_000}-7`;
    await store.connection.send('xadd', [ledger, lower, ...topup[1]]);
    await waitForRounds(2);
    expect(placesOf(await readSegments(dir))).not.toContain(`17 ${lower}`);
    exporter.noteMasterChange();
    await waitUntilExported(dir, new Set([`17 ${lower}`]));
  });
});

describe('on a Cluster', () => {
  it('entries are exported and trimmed as elsewhere', async () => {
    const network = [
      '--cluster-port',
      `${await findFreePort()}`,
      '--cluster-announce-ip',
      '127.0.0.1',
    ];
    const server = await startRedisServer({ args: ['--cluster-enabled', 'yes', ...network] });
    await server.cli('cluster', 'addslotsrange', '0', '16383');
    const nodes = [tcp(server.port)];
    const connection = openConnection({ topology: 'cluster', nodes, tls: false, auth: NO_AUTH });
    await waitForRedis(connection);
    const places = await fillBuckets(connection, BUCKETS);
    const dir = makeTempFolder();
    const exporter = startLedgerExporter({
      connection,
      dir,
      nodeId: 'a',
      clock: { nowMs: () => Date.now() + 1_000 },
      log: createMemoryLog(),
      pace: { ...HASTY_PACE, keepMs: 0 },
    });
    await waitUntilExported(dir, places);
    const isTrimmed = async () => (await streamPlaces(connection, BUCKETS)).size === BUCKETS.length;
    await waitUntil(isTrimmed, 'the streams are trimmed');
    await exporter.stop();
    expect(await verifyLedger({ connection, dirs: [dir] })).toMatchObject({ is_clean: true });
  });
});
