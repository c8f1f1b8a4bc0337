import { afterEach, describe, expect, it } from 'vitest';
import type { RedisTarget } from '../../src/lib/address/redis-target.ts';
import { Secret } from '../../src/lib/secret.ts';
import { classifyRedisError } from '../../src/redis/classify-redis-error.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

const nameOf = async (connection: TestConnection) =>
  / name=(\S*) /.exec(String(await connection.send('client', ['info']).catch(() => '')))?.[1];

async function openBusy(target: RedisTarget, commandTimeoutMs?: number): Promise<TestConnection> {
  const connection = openConnection(target, commandTimeoutMs, { isBusy: true });
  await waitForLine(connection);
  return connection;
}

async function waitForLine(connection: TestConnection): Promise<void> {
  await waitUntil(async () => (await nameOf(connection)) === 'test-direct', 'the line is used');
}

const LONG = 'x'.repeat(200_000);

describe('the line of a busy connection', () => {
  it('is there over TCP and over a unix socket, for a user with a password, in the right database', async () => {
    const config = 'user gate on >hush ~* &* +@all\n';
    const server = await startRedisServer({ config });
    const auth = { username: 'gate', password: new Secret('hush') };
    for (const endpoint of [tcp(server.port), { kind: 'unix' as const, path: server.socketPath }]) {
      const target: RedisTarget = {
        topology: 'standalone',
        ...{ endpoint, tls: false, auth, database: 3 },
      };
      const connection = await openBusy(target);
      const info = String(await connection.send('client', ['info']));
      expect(info).toContain(' db=3 ');
      expect(info).toContain(' user=gate ');
    }
  });

  it('brings each caller the reply to its own command, of any kind', async () => {
    const server = await startRedisServer();
    const connection = await openBusy(standalone(tcp(server.port)));
    await connection.send('rpush', ['list', 'a', 'ž', '']);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const replies = await Promise.all([
      connection.send('echo', ['žluťoučký']),
      connection.send('get', ['nothing']),
      connection.send('lrange', ['list', 0, -1]),
      connection.send('eval', ['return {1, {2, {-3}}, false, "x"}', 0]),
      connection.send('eval', ['return redis.sha1hex(ARGV[1])', 0, bytes]),
      connection.send('ping', []),
      connection.send('echo', [LONG]),
      connection.send('decrby', ['count', Number.MAX_SAFE_INTEGER]),
    ]);
    expect(replies).toEqual([
      'žluťoučký',
      null,
      ['a', 'ž', ''],
      [1, [2, [-3]], null, 'x'],
      '4916d6bdb7f78e6803698cab32d1586ea457dfc8',
      'PONG',
      LONG,
      -Number.MAX_SAFE_INTEGER,
    ]);
  });

  it('says when a turn of the event loop ends, and takes what is sent then along', async () => {
    const server = await startRedisServer();
    for (const isBusy of [true, false]) {
      const target = standalone(tcp(server.port));
      const connection = isBusy ? await openBusy(target) : openConnection(target);
      await waitForRedis(connection);
      const order: string[] = [];
      const late = new Promise((resolve) => {
        connection.atTurnEnd(() => {
          order.push('end');
          resolve(connection.send('echo', ['late']).then((reply) => order.push(String(reply))));
        });
      });
      const early = connection.send('echo', ['early']).then((reply) => order.push(String(reply)));
      order.push('turn');
      await Promise.all([early, late]);
      expect(order).toEqual(['turn', 'end', 'early', 'late']);
    }
  });

  it('says so once more to whoever asks at the end of a turn', async () => {
    const server = await startRedisServer();
    const connection = await openBusy(standalone(tcp(server.port)));
    const order: string[] = [];
    connection.atTurnEnd(() => connection.atTurnEnd(() => order.push('end')));
    order.push(String(await connection.send('echo', ['sent'])));
    expect(order).toEqual(['end', 'sent']);
  });

  it('leaves an error to the client, which says what it is, and goes on', async () => {
    const server = await startRedisServer();
    const connection = await openBusy(standalone(tcp(server.port)));
    const replies = await Promise.allSettled([
      connection.send('echo', ['before']),
      connection.send('evalsha', ['0'.repeat(40), 0]),
      connection.send('echo', ['after']),
    ]);
    expect(replies).toMatchObject([
      { status: 'fulfilled', value: 'before' },
      { status: 'rejected', reason: { message: expect.stringContaining('NOSCRIPT') } },
      { status: 'fulfilled', value: 'after' },
    ]);
    expect(await nameOf(connection)).toBe('test-direct');
  });

  it('follows the client, which looks for another master when it meets a replica', async () => {
    const port = await findFreePort();
    const server = await startRedisServer({ args: ['--replicaof', `127.0.0.1 ${port}`] });
    const connection = await openBusy(standalone(tcp(server.port)));
    const id = await connection.send('client', ['id']);
    await expect(connection.send('set', ['x', '1'])).rejects.toThrow('READONLY');
    await server.cli('replicaof', 'no', 'one');
    await waitForRedis(connection);
    await waitForLine(connection);
    expect(await connection.send('client', ['id'])).not.toBe(id);
  });

  it('is not needed: while it is gone the client does its work, and then it is back', async () => {
    const server = await startRedisServer();
    const connection = await openBusy(standalone(tcp(server.port)));
    let id = '';
    await waitUntil(async () => {
      const info = String(await connection.send('client', ['info']).catch(() => ''));
      if (/ name=test /.test(info)) return true;
      id = /^id=(\d+) /.exec(info)?.[1] ?? id;
      await server.cli('client', 'kill', 'id', id);
      return false;
    }, 'the client does it');
    await waitForLine(connection);
    expect(String(await connection.send('client', ['id']))).not.toBe(id);
    expect(connection.log.lines.map(({ message }) => message)).toEqual(['connected to Redis']);
  });
});

describe('a busy connection whose server goes away', () => {
  it('fails what is due as an outage, sends none of it again, and recovers by itself', async () => {
    const port = await findFreePort();
    const first = await startRedisServer({ port });
    const connection = await openBusy(standalone(tcp(port)), 60_000);
    first.signal('SIGSTOP');
    const due = Array.from({ length: 10 }, () => connection.send('incr', ['count']));
    const failed = Promise.allSettled(due);
    await first.stop();
    for (const result of await failed) {
      expect(result.status === 'rejected' && classifyRedisError(result.reason)).toBe('outage');
    }
    await startRedisServer({ port });
    await waitForLine(connection);
    expect(await connection.send('get', ['count'])).toBeNull();
  });

  it('gives up a line that says nothing, and each call after its own time', async () => {
    const server = await startRedisServer();
    const connection = await openBusy(standalone(tcp(server.port)), 200);
    const id = await connection.send('client', ['id']);
    server.signal('SIGSTOP');
    await expect(connection.send('ping', [])).rejects.toThrow('Command timed out');
    await waitUntil(
      () =>
        connection.send('ping', []).then(
          () => false,
          ({ message }: Error) => message !== 'Command timed out',
        ),
      'the silent line is given up',
    );
    server.signal('SIGCONT');
    await waitForLine(connection);
    expect(await connection.send('client', ['id'])).not.toBe(id);
  });

  it('takes a late reply for nobody, and the next one for whom it is', async () => {
    const server = await startRedisServer();
    const connection = await openBusy(standalone(tcp(server.port)), 200);
    server.signal('SIGSTOP');
    await expect(connection.send('echo', ['late'])).rejects.toThrow('Command timed out');
    server.signal('SIGCONT');
    // The server may take longer than a call may wait to go on.
    const replies: unknown[] = [];
    await waitUntil(async () => {
      await connection.send('echo', ['next']).then(
        (reply) => replies.push(reply),
        () => {},
      );
      return replies.length > 0;
    }, 'there is a reply');
    expect(replies).toEqual(['next']);
  });
});
