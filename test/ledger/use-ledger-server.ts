import { afterAll, afterEach, beforeAll } from 'vitest';
import type { ExportPace } from '../../src/ledger/export-pace.ts';
import {
  type LedgerExporter,
  startLedgerExporter,
} from '../../src/ledger/start-ledger-exporter.ts';
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
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { HASTY_PACE, placesOf, readSegments, streamPlaces } from './ledger-scene.ts';

interface StartOptions {
  readonly dir: string;
  readonly nodeId?: string;
  readonly pace?: Partial<ExportPace>;
  readonly nowMs?: () => number;
}

export interface LedgerServer {
  readonly server: TestRedisServer;
  readonly connection: TestConnection;
  /** An exporter that ends with the test. Tests wait for its rounds instead of fixed times. */
  startExporter(options: StartOptions): {
    readonly exporter: LedgerExporter;
    readonly log: ReturnType<typeof createMemoryLog>;
    /** Counts rounds of reading. An exporter without the lease has none. */
    waitForRounds(rounds: number): Promise<void>;
    /** Each round makes at least one call, to ask for the lease. */
    waitForCalls(calls: number): Promise<void>;
  };
  /** Runs an exporter until everything is in segments and Redis keeps only what `keepMs` says. */
  exportAll(dir: string, options?: { keepMs?: number; nodeId?: string }): Promise<void>;
}

/** A server for the tests of a file. It is empty at the start of each test. */
export function useLedgerServer(buckets: readonly number[]): LedgerServer {
  let server: TestRedisServer | undefined;
  let connection: TestConnection | undefined;
  const running = new Set<LedgerExporter>();

  beforeAll(async () => {
    server = await startRedisServer();
    connection = openConnection(standalone(tcp(server.port)));
    await waitForRedis(connection);
  });
  afterEach(async () => {
    await Promise.all([...running].map((exporter) => exporter.stop()));
    running.clear();
    await server?.cli('flushall');
  });
  afterAll(async () => {
    await closeConnections();
    await stopRedisServers();
  });

  const ledgerServer: LedgerServer = {
    get server() {
      return existing(server);
    },
    get connection() {
      return existing(connection);
    },
    startExporter(options) {
      const started = startExporter(existing(connection), options);
      running.add(started.exporter);
      return started;
    },
    async exportAll(dir, { keepMs = 0, nodeId = 'a' } = {}) {
      const { connection } = ledgerServer;
      const places = await streamPlaces(connection, buckets);
      const nowMs = () => Date.now() + 1_000;
      const { exporter } = startExporter(connection, { dir, nodeId, nowMs, pace: { keepMs } });
      running.add(exporter);
      await waitUntilExported(dir, places);
      const isTrimmed = async () =>
        (await streamPlaces(connection, buckets)).size <= buckets.length;
      if (keepMs === 0) await waitUntil(isTrimmed, 'the streams are trimmed');
      await exporter.stop();
    },
  };
  return ledgerServer;
}

export async function waitUntilExported(dir: string, places: ReadonlySet<string>): Promise<void> {
  await waitUntil(async () => {
    const exported = placesOf(await readSegments(dir));
    return [...places].every((place) => exported.has(place));
  }, 'everything is exported');
}

function startExporter(connection: TestConnection, options: StartOptions) {
  const { dir, nodeId = 'a', pace, nowMs = Date.now } = options;
  const log = createMemoryLog();
  let reads = 0;
  let calls = 0;
  const client = new Proxy(connection.client, {
    get(target, name) {
      if (name === 'callBuffer') reads++;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const exporter = startLedgerExporter({
    connection: {
      client,
      send: (command, args) => {
        calls++;
        return connection.send(command, args);
      },
    },
    dir,
    nodeId,
    clock: { nowMs },
    log,
    pace: { ...HASTY_PACE, ...pace },
  });
  const waitForRounds = async (rounds: number) => {
    const enough = reads + 256 * (rounds + 1);
    await waitUntil(() => reads >= enough, `${rounds} rounds have passed`);
  };
  const waitForCalls = async (count: number) => {
    const enough = calls + count;
    await waitUntil(() => calls >= enough, `${count} calls were made`);
  };
  return { exporter, log, waitForRounds, waitForCalls };
}

function existing<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the server runs while tests do');
  return value;
}
