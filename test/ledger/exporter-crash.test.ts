import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listSegments } from '../../src/ledger/segment-files.ts';
import { verifyLedger } from '../../src/ledger/verify-ledger.ts';
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
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { ExporterOrder } from './exporter-main.ts';
import { createAccount, HASTY_PACE, placesOf, readSegments, serve } from './ledger-scene.ts';

const PROGRAM = 'dist/test/ledger/exporter-main.js';
const KILLS = 25;
const BUCKETS = [2, 250];
/** File events in the folder before a kill. A segment causes about four. */
const FILE_EVENTS_MAX = 9;

let server: TestRedisServer;
let connection: TestConnection;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  server = await startRedisServer();
  connection = openConnection(standalone(tcp(server.port)));
  await waitForRedis(connection);
});
afterEach(async () => {
  await Promise.all([...children].map(kill));
  await server.cli('flushall');
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

function spawnExporter(order: Omit<ExporterOrder, 'port'>): ChildProcess {
  const argument = JSON.stringify({ ...order, port: server.port });
  const child = spawn(process.execPath, [PROGRAM, argument], { stdio: 'inherit' });
  children.add(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  children.delete(child);
}

/** Kills at the nth change of the folder: creating, writing or renaming a file. */
async function killAtEvent(child: ChildProcess, dir: string, nth: number): Promise<void> {
  const ended = once(child, 'exit');
  let events = 0;
  const watcher = watch(dir, () => {
    if (++events === nth) child.kill('SIGKILL');
  });
  await ended;
  watcher.close();
  expect(child.signalCode).toBe('SIGKILL');
  children.delete(child);
}

/** Serves requests on all accounts until told to stop. Returns the ids of the charged requests. */
async function startTraffic() {
  const accounts = await Promise.all(BUCKETS.map((bucket) => createAccount(connection, bucket)));
  const requests: string[] = [];
  let isOver = false;
  const lanes = accounts.map(async (account) => {
    while (!isOver) requests.push(await serve(connection, account));
  });
  return {
    end: async () => {
      isOver = true;
      await Promise.all(lanes);
      return new Set(requests);
    },
  };
}

async function waitUntilExported(dir: string, requests: ReadonlySet<string>): Promise<void> {
  await waitUntil(async () => {
    const exported = new Set((await readSegments(dir)).map(({ request }) => request));
    return [...requests].every((request) => exported.has(request));
  }, 'everything is exported');
}

describe('an exporter that is killed', () => {
  it(`${KILLS} times loses nothing, and what it wrote twice can be told by its place`, async () => {
    const dir = join(makeTempFolder(), 'ledger');
    mkdirSync(dir);
    const order = { dir, nodeId: 'a', pace: { ...HASTY_PACE, keepMs: 0 } };
    const traffic = await startTraffic();
    for (let i = 0; i < KILLS; i++) {
      await killAtEvent(spawnExporter(order), dir, 1 + (i % FILE_EVENTS_MAX));
    }
    const requests = await traffic.end();
    spawnExporter(order);
    await waitUntilExported(dir, requests);

    const entries = await readSegments(dir);
    const charges = entries.filter(({ kind }) => kind === 'charge');
    const places = placesOf(charges);
    expect(places.size).toBe(requests.size);
    expect(new Set(charges.map(({ request }) => request))).toEqual(requests);
    const sequences = (await listSegments(dir)).map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.map((_, i) => i + 1));
    const report = await verifyLedger({ connection, dirs: [dir] });
    expect(report).toMatchObject({ is_clean: true, entries: requests.size + BUCKETS.length });
    console.log(
      `${KILLS} kills: ${requests.size} charges, ${charges.length - places.size} of them twice, ${sequences.length} segments`,
    );
  }, 180_000);

  it('is followed by another node, which has the rest', async () => {
    const [dirA, dirB] = [makeTempFolder(), makeTempFolder()];
    const pace = { ...HASTY_PACE, keepMs: 0, leaseMs: 500 };
    const traffic = await startTraffic();
    const first = spawnExporter({ dir: dirA, nodeId: 'a', pace });
    await waitUntil(async () => (await listSegments(dirA)).length > 3, 'the first one exports');
    spawnExporter({ dir: dirB, nodeId: 'b', pace });
    await kill(first);
    await waitUntil(async () => (await listSegments(dirB)).length > 3, 'the second one exports');
    const requests = await traffic.end();
    const exported = async () => [...(await readSegments(dirA)), ...(await readSegments(dirB))];
    await waitUntil(async () => {
      const found = new Set((await exported()).map(({ request }) => request));
      return [...requests].every((request) => found.has(request));
    }, 'everything is exported');
    const report = await verifyLedger({ connection, dirs: [dirA, dirB] });
    expect(report).toMatchObject({ is_clean: true, entries: requests.size + BUCKETS.length });
  });
});
