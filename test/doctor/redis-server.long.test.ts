import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { examine, problem } from './examine.ts';

afterAll(stopRedisServers);

const SAFE = ['--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory', '1gb'];

const start = (...args: string[]) => startRedisServer({ args });
const examineRedis = (server: TestRedisServer, credentials = '') =>
  examine({ redisUrl: `redis://${credentials}127.0.0.1:${server.port}` });

it('finds nothing wrong with a server that is set up well, and leaves nothing behind', async () => {
  const server = await start(...SAFE);
  const find = await examineRedis(server);
  for (const [name, found] of [
    ['redis-reachable', `127.0.0.1:${server.port}`],
    ['redis-topology', 'one server'],
    ['redis-version', expect.stringMatching(/^(Redis|Valkey) \d/)],
    ['redis-persistence', 'append-only file, written before each answer'],
    ['redis-eviction', 'noeviction'],
    ['redis-memory', expect.stringContaining('of 1GiB in use')],
    ['redis-connections', expect.stringMatching(/^\d+ of 10000 in use \(0 %\)$/)],
    ['redis-replicas', 'none: one server alone'],
    ['redis-writes', expect.any(String)],
    ['redis-rights', 'all commands are allowed'],
    ['redis-clock', expect.any(String)],
  ] as const) {
    expect(find(name), name).toEqual({ state: 'ok', found });
  }
  expect(find('redis-latency').found).toMatch(/^\d+\.\d\d ms$/);
  expect(await server.cli('dbsize')).toBe('0');
});

it('warns of a database that is not the first, since another fleet on the server would hear this one', async () => {
  const { port } = await start(...SAFE);
  const find = await examine({ redisUrl: `redis://127.0.0.1:${port}/3` });
  expect(find('redis-topology')).toEqual(problem('warning', 'not 3 alone', 'a Redis of its own'));
});

it('fails a database that Redis does not have, and one that the user may not select', async () => {
  const { port, cli } = await start(...SAFE, '--databases', '16');
  await cli('acl', 'setuser', 'gate', 'on', '>word', '~*', '&*', '+@all', '-select');
  for (const [address, database] of [
    [`127.0.0.1:${port}/16`, 16],
    [`gate:word@127.0.0.1:${port}/3`, 3],
  ] as const) {
    const find = await examine({ redisUrl: `redis://${address}` });
    const found = `Redis has no database ${database}, or its user may not select it`;
    expect(find('redis-reachable')).toEqual(problem('failed', found, '+select'));
    expect(find('redis-writes').state).toBe('skipped');
  }
});

it('fails a server that evicts, and warns of one that has no limit of memory', async () => {
  const find = await examineRedis(await start('--maxmemory-policy', 'allkeys-lru'));
  expect(find('redis-eviction')).toEqual(problem('failed', 'allkeys-lru', 'noeviction'));
  expect(find('redis-memory')).toEqual(problem('warning', 'no limit', 'Set maxmemory'));
});

it('fails a server that keeps nothing, and warns of snapshots alone and of a lazy disk', async () => {
  const none = await examineRedis(await start());
  expect(none('redis-persistence')).toEqual(problem('failed', 'none', 'appendonly yes'));
  const snapshots = await examineRedis(await start('--save', '60 1'));
  expect(snapshots('redis-persistence')).toEqual(
    problem('warning', 'snapshots only', 'appendonly yes'),
  );
  const lazy = await examineRedis(await start('--appendonly', 'yes', '--appendfsync', 'no'));
  expect(lazy('redis-persistence')).toEqual(
    problem('warning', 'whenever the system decides', 'always'),
  );
});

it('fails a server whose memory is full, by its own word and by the write', async () => {
  // Less than an empty server takes, including Redis 8. The message shows whole MiB.
  const server = await start('--maxmemory', '512kb');
  const find = await examineRedis(server);
  expect(find('redis-memory')).toEqual(problem('failed', 'of 1MiB in use', 'Raise maxmemory'));
  expect(find('redis-writes')).toEqual(problem('failed', 'OOM', 'Raise maxmemory'));
});

it('fails a server that has hardly room for one more connection', async () => {
  const server = await start('--maxclients', '100');
  const idle = Array.from({ length: 95 }, () => connect(server.port, '127.0.0.1'));
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  const find = await examineRedis(server);
  for (const socket of idle) socket.destroy();
  expect(find('redis-connections')).toEqual(problem('failed', 'of 100 in use', 'Raise maxclients'));
});

it('tells which commands a user may not run, and that Redis keys are shut', async () => {
  const server = await start(...SAFE);
  await server.cli(
    'acl',
    'setuser',
    'mute',
    'on',
    '>word',
    '~*',
    '&*',
    '+@all',
    '-publish',
    '-xtrim',
  );
  const mute = await examineRedis(server, 'mute:word@');
  expect(mute('redis-rights')).toEqual(problem('failed', 'may not run PUBLISH, XTRIM', '~gw:*'));
  expect(mute('redis-writes').state).toBe('ok');
  await server.cli('acl', 'setuser', 'other', 'on', '>word', '~other:*', '&*', '+@all');
  const other = await examineRedis(server, 'other:word@');
  expect(other('redis-writes')).toEqual(problem('failed', 'NOPERM', '~gw:*'));
  await server.cli('acl', 'setuser', 'deaf', 'on', '>word', '~gw:*', '+@all');
  const deaf = await examineRedis(server, 'deaf:word@');
  expect(deaf('redis-rights')).toEqual(problem('failed', 'PUBLISH, SUBSCRIBE', '&gw:*'));
});

it('finds that the user it advises to make is enough', async () => {
  const server = await start(...SAFE);
  const rights = ['~gw:*', '&gw:*', '+@all', '-@admin', '-@dangerous', '+info', '+role'];
  await server.cli('acl', 'setuser', 'app', 'on', '>word', ...rights);
  const find = await examineRedis(server, 'app:word@');
  expect(find('redis-rights').state).toBe('ok');
  expect(find('redis-writes').state).toBe('ok');
  expect(find('redis-eviction').state).toBe('ok');
});

it('skips what a user may not ask for', async () => {
  const server = await start(...SAFE);
  await server.cli('acl', 'setuser', 'blind', 'on', '>word', '~gw:*', '&*', '+@all', '-info');
  const find = await examineRedis(server, 'blind:word@');
  expect(find('redis-reachable').state).toBe('ok');
  expect(find('redis-version').state).toBe('skipped');
  expect(find('redis-rights')).toEqual(problem('failed', 'INFO', '+info'));
});

it('tells a wrong password from a server that is not there, and skips the rest', async () => {
  const server = await start(...SAFE, '--requirepass', 'word');
  const shut = await examineRedis(server, ':wrong@');
  expect(shut('redis-reachable')).toEqual(problem('failed', 'WRONGPASS', 'password'));
  await server.stop();
  const gone = await examineRedis(server);
  expect(gone('redis-reachable')).toEqual(problem('failed', 'ECONNREFUSED', 'Start Redis'));
  expect(gone('redis-writes').state).toBe('skipped');
  expect(gone('redis-topology').state).toBe('skipped');
});

it('warns when the clock of Redis is not that of this machine', async () => {
  const server = await start(...SAFE);
  const find = await examine({
    redisUrl: `redis://127.0.0.1:${server.port}`,
    clock: { nowMs: () => Date.now() + 3_600_500 },
  });
  expect(find('redis-clock')).toEqual(
    problem('warning', `127.0.0.1:${server.port} is 3600.`, 'NTP'),
  );
});

it('warns of a replica that does not follow, and fails when writes wait for one that is cut', async () => {
  const master = await start(...SAFE);
  const replica = await start('--replicaof', `127.0.0.1 ${master.port}`);
  const isOnline = async () => (await master.cli('info', 'replication')).includes('state=online');
  await waitUntil(isOnline, 'the replica follows');
  expect((await examineRedis(master))('redis-replicas')).toEqual({
    state: 'ok',
    found: '1 connected',
  });
  const ofReplica = await examineRedis(replica);
  expect(ofReplica('redis-topology')).toEqual(
    problem('failed', `a replica of 127.0.0.1:${master.port}`, 'at the master'),
  );
  expect(ofReplica('redis-writes')).toEqual(problem('failed', 'READONLY', 'at the master'));
  replica.signal('SIGSTOP');
  await master.cli('eval', "redis.call('set', KEYS[1], string.rep('x', 3000000))", '1', 'big');
  expect((await examineRedis(master))('redis-replicas')).toEqual(
    problem('warning', `127.0.0.1:${replica.port} is`, 'failover'),
  );
  await replica.stop();
  await master.cli('config', 'set', 'min-replicas-to-write', '1');
  await waitUntil(async () => !(await isOnline()), 'the replica is gone');
  const cut = await examineRedis(master);
  expect(cut('redis-replicas')).toEqual(problem('failed', '0 connected', 'Start the missing'));
  expect(cut('redis-writes')).toEqual(problem('failed', 'NOREPLICAS', 'replicas'));
});
