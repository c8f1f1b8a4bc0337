import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/lib/secret.ts';
import { classifyRedisError } from '../../src/redis/classify-redis-error.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import { probeRedis } from '../../src/redis/probe-redis.ts';
import { RedisUnavailable } from '../../src/redis/redis-unavailable.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

async function failureOf(call: Promise<unknown>): Promise<Error> {
  const error = await call.then(
    () => new Error('it succeeded'),
    (caught: unknown) => caught,
  );
  return error as Error;
}

async function startAndConnect(args: readonly string[] = [], commandTimeoutMs = 1_000) {
  const server = await startRedisServer({ args });
  const connection = openConnection(standalone(tcp(server.port)), commandTimeoutMs);
  await waitUntil(() => connection.client.status === 'ready', 'the connection is ready');
  return { server, connection };
}

async function expectProbeFailure(connection: RedisConnection, text: RegExp, kind: string) {
  const error = await failureOf(probeRedis(connection, 0));
  expect(error.message).toMatch(text);
  expect(classifyRedisError(error)).toBe(kind);
}

describe('errors of real servers', () => {
  it('a frozen server is an outage', async () => {
    const { server, connection } = await startAndConnect([], 100);
    server.signal('SIGSTOP');
    await expectProbeFailure(connection, /^Command timed out/, 'outage');
    server.signal('SIGCONT');
  });

  it('a lost connection is an outage, for calls on their way and for later ones', async () => {
    const { server, connection } = await startAndConnect();
    server.signal('SIGSTOP');
    const due = failureOf(probeRedis(connection, 0));
    await server.stop();
    expect(classifyRedisError(await due)).toBe('outage');
    await expectProbeFailure(connection, /^Stream isn't writeable/, 'outage');
  });

  it('a closed connection is an outage', async () => {
    const { connection } = await startAndConnect();
    await connection.close();
    await expectProbeFailure(connection, /^Connection is closed/, 'outage');
  });

  it('a replica refuses the probe: an outage', async () => {
    const master = await startRedisServer();
    const { connection } = await startAndConnect(['--replicaof', `127.0.0.1 ${master.port}`]);
    await expectProbeFailure(connection, /^READONLY/, 'outage');
  });

  it('a replica without its master that serves no old data refuses the probe: an outage', async () => {
    const port = await findFreePort();
    const { connection } = await startAndConnect([
      ...['--replicaof', `127.0.0.1 ${port}`, '--replica-serve-stale-data', 'no'],
    ]);
    await expectProbeFailure(connection, /^(MASTERDOWN|READONLY)/, 'outage');
  });

  it('a master with too few replicas refuses the probe: an outage', async () => {
    const { connection } = await startAndConnect(['--min-replicas-to-write', '1']);
    await expectProbeFailure(connection, /^NOREPLICAS/, 'outage');
  });

  it('a server that cannot write its snapshot refuses the probe: an outage', async () => {
    const { server, connection } = await startAndConnect(['--dbfilename', 'dump']);
    mkdirSync(join(server.dir, 'dump'));
    await server.cli('config', 'set', 'save', '3600 1');
    await server.cli('bgsave');
    await waitUntil(
      async () => (await server.cli('info', 'persistence')).includes('last_bgsave_status:err'),
      'the snapshot has failed',
    );
    await expectProbeFailure(connection, /^MISCONF/, 'outage');
  });

  it('a server whose memory is used up refuses the probe, and this is no outage', async () => {
    const { connection } = await startAndConnect([
      '--maxmemory',
      '1',
      '--maxmemory-policy',
      'noeviction',
    ]);
    await expectProbeFailure(connection, /^OOM/, 'retryable');
  });

  it('a Cluster without slots is an outage', async () => {
    const { connection } = await startAndConnect([
      ...['--cluster-enabled', 'yes', '--cluster-port', `${await findFreePort()}`],
    ]);
    await expectProbeFailure(connection, /^CLUSTERDOWN/, 'outage');
  });

  it('a server that is loading is an outage', async () => {
    const { server, connection } = await startAndConnect([
      ...['--appendonly', 'yes', '--enable-debug-command', 'yes'],
    ]);
    // While a server loads data, it serves its clients after every 1024 commands.
    await server.cli('eval', "for n = 1, 20000 do redis.call('set', n, 1) end", '0');
    await server.cli('config', 'set', 'key-load-delay', '200');
    const reload = server.cli('debug', 'loadaof').catch(() => '');
    await waitUntil(async () => {
      const error = await failureOf(connection.send('get', ['1']));
      return error.message.startsWith('LOADING');
    }, 'the server says that it is loading');
    await expectProbeFailure(connection, /^LOADING/, 'outage');
    await server.stop();
    await reload;
  });

  it('a script that never ends is retryable for others', async () => {
    const { server, connection } = await startAndConnect(['--busy-reply-threshold', '1']);
    const other = openConnection(standalone(tcp(server.port)));
    await waitUntil(() => other.client.status === 'ready', 'the other connection is ready');
    const endless = failureOf(connection.send('eval', ['while true do end', '0']));
    await waitUntil(async () => {
      const error = await failureOf(other.send('get', ['x']));
      return error.message.startsWith('BUSY');
    }, 'the server says that it is busy');
    await expectProbeFailure(other, /^BUSY/, 'retryable');
    await server.stop();
    await endless;
  });

  it('an unknown script and a missing right are retryable, a wrong command is a fault', async () => {
    const server = await startRedisServer({ config: 'user gate on >word ~a* +@all\n' });
    const auth = { username: 'gate', password: new Secret('word') };
    const connection = openConnection({ ...standalone(tcp(server.port)), auth });
    await waitUntil(() => connection.client.status === 'ready', 'the connection is ready');
    const kindOf = async (command: string, ...args: string[]) =>
      classifyRedisError(await failureOf(connection.send(command, args)));
    expect(await kindOf('evalsha', 'f'.repeat(40), '0')).toBe('retryable');
    expect(await kindOf('eval', 'return 1 +', '0')).toBe('fault');
    expect(await kindOf('incr', 'a', 'b')).toBe('fault');
    expect(await kindOf('set', 'b', '1')).toBe('retryable');
  });
});

describe('errors that need more than one server', () => {
  it.each([
    ['MOVED 3999 127.0.0.1:6381', 'retryable'],
    ['ASK 3999 127.0.0.1:6381', 'retryable'],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'retryable'],
    ['Too many Cluster redirections. Last error: Error: Connection is closed.', 'outage'],
    ["Cluster isn't ready and enableOfflineQueue options is false", 'outage'],
    ['None of startup nodes is available', 'outage'],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'fault'],
    ['something no one has seen before', 'fault'],
  ])('"%s" is of kind %s', (message, kind) => {
    expect(classifyRedisError(new Error(message))).toBe(kind);
  });

  it('an open breaker is an outage, an error of a socket too, and a bug is a fault', () => {
    const socketError = Object.assign(new Error('read ECONNRESET'), {
      code: 'ECONNRESET',
      syscall: 'read',
    });
    expect(classifyRedisError(socketError)).toBe('outage');
    expect(classifyRedisError(new RedisUnavailable())).toBe('outage');
    expect(classifyRedisError(new TypeError('x is undefined'))).toBe('fault');
    expect(classifyRedisError('a string')).toBe('fault');
  });
});
