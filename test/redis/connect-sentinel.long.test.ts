import { afterEach, expect, it, vi } from 'vitest';
import type { RedisTarget } from '../../src/lib/address/redis-target.ts';
import { Secret } from '../../src/lib/secret.ts';
import { probeRedis } from '../../src/redis/probe-redis.ts';
import {
  closeConnections,
  openConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

const PASSWORD = 'data-word';

/**
 * Sentinels that were not scheduled for 2 s distrust their clocks for 30 s and elect no leader. A
 * split vote costs them 8 s. On a loaded machine both happen, one after the other.
 */
const FAILOVER_TIMEOUT_MS = 150_000;
const TEST_TIMEOUT_MS = 200_000;

/**
 * One master, one replica and three Sentinels. A master counts as down after 4 s: a busy one must
 * not.
 */
async function startSentinels() {
  const args = ['--requirepass', PASSWORD, '--masterauth', PASSWORD];
  const master = await startRedisServer({ args });
  const replica = await startRedisServer({
    args: [...args, '--replicaof', `127.0.0.1 ${master.port}`],
  });
  const config = [
    `sentinel monitor main 127.0.0.1 ${master.port} 2`,
    `sentinel auth-pass main ${PASSWORD}`,
    'sentinel down-after-milliseconds main 4000',
    'sentinel failover-timeout main 4000',
    '',
  ].join('\n');
  const sentinels = await Promise.all(
    [1, 2, 3].map(() => startRedisServer({ config, isSentinel: true })),
  );
  await waitUntil(async () => {
    const views = await Promise.all(sentinels.map((s) => s.cli('sentinel', 'master', 'main')));
    return views.every(
      (view) => /num-slaves\n1\n/.test(view) && /num-other-sentinels\n2\n/.test(view),
    );
  }, 'the sentinels know the replica and each other');
  return { master, replica, sentinels };
}

function sentinelTarget(sentinels: readonly TestRedisServer[]): RedisTarget {
  return {
    topology: 'sentinel',
    sentinels: sentinels.map(({ port }) => tcp(port)),
    masterName: 'main',
    tls: false,
    auth: { username: undefined, password: new Secret(PASSWORD) },
    database: 0,
  };
}

it(
  'follows the master to another server when it dies',
  async () => {
    const stderr = vi.spyOn(console, 'error');
    const { master, replica, sentinels } = await startSentinels();
    const connection = openConnection(sentinelTarget(sentinels), 250);
    await waitForRedis(connection);
    expect(await connection.send('config', ['get', 'port'])).toEqual(['port', `${master.port}`]);

    // One Sentinel is gone. Its listener for failovers keeps failing and must do so silently.
    await sentinels[2]?.stop();
    const from = connection.log.lines.length;
    await master.stop();
    await waitForRedis(connection, FAILOVER_TIMEOUT_MS);
    expect(await connection.send('config', ['get', 'port'])).toEqual(['port', `${replica.port}`]);
    expect(await probeRedis(connection, 0)).toBeGreaterThan(0);
    // A server that answers late on a busy machine is given up too.
    expect(connection.log.lines.slice(from, from + 2).map((line) => line.message)).toEqual([
      'connection to Redis lost',
      'connection to Redis is back',
    ]);
    expect(stderr.mock.calls).toEqual([]);
    stderr.mockRestore();
  },
  TEST_TIMEOUT_MS,
);

it(
  'follows it also when it hears of the change while it still asks where the master is',
  async () => {
    const { master, replica, sentinels } = await startSentinels();
    const connections = Array.from({ length: 10 }, () =>
      openConnection(sentinelTarget(sentinels), 250),
    );
    for (const connection of connections) await waitForRedis(connection);
    // The Sentinel that is asked first does not answer, so a connection waits for it during half of
    // the time until the change.
    sentinels[0]?.signal('SIGSTOP');
    await master.stop();
    for (const connection of connections) {
      await waitForRedis(connection, FAILOVER_TIMEOUT_MS);
      expect(await connection.send('config', ['get', 'port'])).toEqual(['port', `${replica.port}`]);
    }
  },
  TEST_TIMEOUT_MS,
);

it('says once that no Sentinel answers, and connects when one does', async () => {
  const { sentinels } = await startSentinels();
  for (const sentinel of sentinels) sentinel.signal('SIGSTOP');
  const connection = openConnection(sentinelTarget(sentinels), 250);
  await waitUntil(() => connection.log.lines.length > 0, 'the failure is logged');
  await expect(connection.send('ping', [])).rejects.toThrow("Stream isn't writeable");
  for (const sentinel of sentinels) sentinel.signal('SIGCONT');
  await waitForRedis(connection);
  expect(connection.log.lines.map((line) => line.message)).toEqual([
    'cannot connect to Redis yet',
    'connected to Redis',
  ]);
});
