import { afterEach, expect, it, onTestFinished } from 'vitest';
import { type FleetLine, openFleetLine } from '../../src/fleet/fleet-line.ts';
import type { RedisTarget } from '../../src/lib/address/redis-target.ts';
import { FLEET_CHANNEL } from '../../src/redis/redis-keys.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import {
  closeConnections,
  NO_AUTH,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startClusterMasters } from '../support/servers/start-cluster-masters.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

/** As a node has it, since a frozen server must not keep a call for long. */
const COMMAND_TIMEOUT_MS = 1_000;
/** The line looks again and again, and may choose the frozen server more than once. */
const HEARD_MAX_MS = 60_000;

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

async function openLine(target: RedisTarget) {
  const connection = openConnection(target, COMMAND_TIMEOUT_MS);
  await waitForRedis(connection);
  const log = createMemoryLog();
  const line = openFleetLine({ target, connection, log });
  onTestFinished(() => line.close());
  const news: string[] = [];
  line.onOpen(() => void news.push('open'));
  line.onLost(() => void news.push('lost'));
  await waitUntil(() => news.includes('open'), 'the line is open');
  return { connection, line, log, news };
}

function hearVersions(line: FleetLine): number[] {
  const versions: number[] = [];
  line.onMessage('catalogue', ({ version }) => void versions.push(version));
  return versions;
}

async function countListeners(server: TestRedisServer): Promise<number> {
  const reply = await server.cli('pubsub', 'numsub', FLEET_CHANNEL);
  return Number(reply.split('\n')[1]);
}

it('a line whose server in a Cluster is frozen hears over another one, and says that it was deaf', async () => {
  const servers = await startClusterMasters();
  const nodes = servers.map(({ port }) => tcp(port));
  const { line, news } = await openLine({
    ...({ topology: 'cluster', tls: false } as const),
    ...{ nodes, auth: NO_AUTH },
  });
  const versions = hearVersions(line);
  const counts = await Promise.all(servers.map(countListeners));
  const [frozen] = servers.filter((_, index) => counts[index] === 1);
  const [other] = servers.filter((server) => server !== frozen);
  frozen?.signal('SIGSTOP');
  const message = JSON.stringify({ type: 'catalogue', version: 7 });
  await waitUntil(
    async () => {
      await other?.cli('publish', FLEET_CHANNEL, message);
      return versions.includes(7);
    },
    'the line hears',
    HEARD_MAX_MS,
  );
  expect(frozen).toBeDefined();
  expect(news.slice(0, 2)).toEqual(['open', 'lost']);
  await waitUntil(() => news.at(-1) === 'open', 'the line says that it is open');
});

it('a line that hears itself keeps its connection, and stays with what it listens to', async () => {
  const server = await startRedisServer();
  const { line, log, news } = await openLine(standalone(tcp(server.port)));
  const versions = hearVersions(line);
  const published = async () => {
    const stats = await server.cli('info', 'commandstats');
    return Number(/cmdstat_publish:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  };
  // More than a line may leave unheard.
  await waitUntil(async () => (await published()) >= 4, 'it has often said something to itself');
  await line.publish({ type: 'catalogue', version: 8 });
  await waitUntil(() => versions.includes(8), 'the line hears');
  expect(news).toEqual(['open']);
  expect(log.lines.map(({ message }) => message)).toEqual(['connected to Redis']);
});

it('a line that may not listen for a while ends no process, and hears again afterwards', async () => {
  const server = await startRedisServer();
  const { line, log, news } = await openLine(standalone(tcp(server.port)));
  const versions = hearVersions(line);
  // The test runner fails a test that leaves a rejection to nobody.
  await server.cli('acl', 'setuser', 'default', '-subscribe');
  await server.cli('client', 'kill', 'type', 'pubsub');
  const refusals = () => log.lines.filter(({ message }) => message === 'other nodes are not heard');
  await waitUntil(() => refusals().length > 0, 'the line is refused');
  expect(refusals()[0]?.fields).toMatchObject({
    err: { message: expect.stringContaining('NOPERM') },
  });
  await server.cli('acl', 'setuser', 'default', '+subscribe');
  await waitUntil(() => news.at(-1) === 'open', 'the line is open again');
  await line.publish({ type: 'catalogue', version: 9 });
  await waitUntil(() => versions.includes(9), 'the line hears');
});
