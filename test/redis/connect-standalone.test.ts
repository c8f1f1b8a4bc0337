import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RedisTarget } from '../../src/lib/address/redis-target.ts';
import { Secret } from '../../src/lib/secret.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import {
  closeConnections,
  NO_AUTH,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

describe('a connection to one server', () => {
  it('sends commands over TCP and over a unix socket', async () => {
    const server = await startRedisServer();
    for (const target of [
      standalone(tcp(server.port)),
      standalone({ kind: 'unix', path: server.socketPath }),
    ]) {
      const connection = openConnection(target);
      await waitForRedis(connection);
      await connection.send('set', ['greeting', 'hello']);
      expect(await connection.send('get', ['greeting'])).toBe('hello');
    }
  });

  it('uses the database and the name it was given', async () => {
    const server = await startRedisServer();
    const connection = openConnection({ ...standalone(tcp(server.port)), database: 3 } as never);
    await waitForRedis(connection);
    const info = String(await connection.send('client', ['info']));
    expect(info).toContain(' db=3 ');
    expect(info).toContain(' name=test ');
  });

  it('takes no command while its database is refused, and says why', async () => {
    const acl = 'user gate on >word ~* &* +@all -select\n';
    const server = await startRedisServer({ config: `databases 16\n${acl}` });
    const gate = { username: 'gate', password: new Secret('word') };
    for (const [database, auth] of [
      [16, NO_AUTH],
      [3, gate],
    ] as const) {
      for (const isBusy of [false, true]) {
        const target = { ...standalone(tcp(server.port)), database, auth } as RedisTarget;
        const connection = openConnection(target, undefined, { isBusy });
        let attempts = 0;
        connection.client.on('connecting', () => {
          attempts += 1;
        });
        await waitUntil(async () => {
          await expect(connection.send('set', ['astray', '1'])).rejects.toThrow();
          return attempts >= 3;
        }, 'it has tried several times');
        expect(connection.log.lines).toEqual([
          {
            level: 'warn',
            message: 'cannot connect to Redis yet',
            fields: {
              connection: 'test',
              reason: expect.stringMatching(
                `^Redis has no database ${database}, or its user may not select it [(](ERR|NOPERM)`,
              ),
            },
          },
        ]);
      }
    }
    expect(await server.cli('dbsize')).toBe('0');
  });

  it('takes its database when the user may select it at last', async () => {
    const config = 'user gate on >word ~* &* +@all -select\n';
    const server = await startRedisServer({ config });
    const auth = { username: 'gate', password: new Secret('word') };
    const target = { ...standalone(tcp(server.port)), database: 3, auth } as RedisTarget;
    const connection = openConnection(target);
    await waitUntil(() => connection.log.lines.length > 0, 'the refusal is logged');
    await server.cli('acl', 'setuser', 'gate', '+select');
    await waitForRedis(connection);
    expect(String(await connection.send('client', ['info']))).toContain(' db=3 ');
  });

  it('logs in with a password, and with a user and a password', async () => {
    const config = 'requirepass hush-1\nuser gate on >hush-2 ~* &* +@all\n';
    const server = await startRedisServer({ config });
    for (const auth of [
      { username: undefined, password: new Secret('hush-1') },
      { username: 'gate', password: new Secret('hush-2') },
    ]) {
      await waitForRedis(openConnection({ ...standalone(tcp(server.port)), auth }));
    }
  });

  it('never shows the password in the log or in an error, also when it is wrong', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const server = await startRedisServer({ args: ['--requirepass', 'right-word'] });
    const auth = { username: undefined, password: new Secret('wrong-word') };
    const connection = openConnection({ ...standalone(tcp(server.port)), auth });
    await waitUntil(() => connection.log.lines.length > 0, 'the failure is logged');
    const error = await connection.send('get', ['x']).catch((caught: unknown) => caught);
    const printed = stderr.mock.calls.join('\n');
    stderr.mockRestore();
    expect(connection.log.lines[0]).toMatchObject({
      level: 'warn',
      message: 'cannot connect to Redis yet',
      fields: { reason: expect.stringContaining('WRONGPASS') },
    });
    expect(inspect([connection.log.lines, error], { depth: 9 }) + printed).not.toMatch(/-word/);
  });

  it('keeps the arguments of a failed command out of the error', async () => {
    const server = await startRedisServer();
    const connection = openConnection(standalone(tcp(server.port)));
    await waitForRedis(connection);
    const error = await connection.send('incr', ['x', 'digest-of-a-key']).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error)).not.toContain('digest-of-a-key');
  });

  it('does not tear down an idle connection, and drops one whose reply is overdue', async () => {
    const stalled = await startSilentServer();
    const server = await startRedisServer();
    const idle = openConnection(standalone(tcp(server.port)));
    await waitForRedis(idle);
    const id = await idle.send('client', ['id']);
    // No command times out here, so only the socket's own timeout can make it reconnect.
    openConnection(standalone(tcp(stalled.port)), 60_000);
    await waitUntil(() => stalled.connections() >= 2, 'the silent server was given up');
    expect(await idle.send('client', ['id'])).toBe(id);
    await stalled.stop();
  });
});

describe('a connection whose server goes away', () => {
  it('fails calls at once, executes none of them later, and recovers by itself', async () => {
    const port = await findFreePort();
    const first = await startRedisServer({ port });
    const connection = openConnection(standalone(tcp(port)));
    await waitForRedis(connection);
    await first.stop();
    await waitUntil(() => connection.client.status !== 'ready', 'the loss is noticed');
    await expect(connection.send('set', ['ghost', '1'])).rejects.toThrow("Stream isn't writeable");

    await startRedisServer({ port });
    await waitForRedis(connection);
    expect(await connection.send('get', ['ghost'])).toBeNull();
  });

  it('fails the calls whose replies are due, and does not send them again', async () => {
    const port = await findFreePort();
    const first = await startRedisServer({ port });
    const connection = openConnection(standalone(tcp(port)), 60_000);
    await waitForRedis(connection);
    first.signal('SIGSTOP');
    const due = connection.send('incr', ['count']);
    const failed = expect(due).rejects.toThrow('max retries per request');
    await first.stop();
    await failed;

    await startRedisServer({ port });
    await waitForRedis(connection);
    expect(await connection.send('get', ['count'])).toBeNull();
  });

  it('logs one line for a loss and one for the recovery, whatever the attempts between', async () => {
    const port = await findFreePort();
    const first = await startRedisServer({ port });
    const connection = openConnection(standalone(tcp(port)));
    await waitForRedis(connection);
    await first.stop();
    let attempts = 0;
    connection.client.on('connecting', () => {
      attempts += 1;
    });
    await waitUntil(() => attempts >= 3, 'it has tried several times');
    await startRedisServer({ port });
    await waitForRedis(connection);
    expect(connection.log.lines.map((line) => line.message)).toEqual([
      'connected to Redis',
      'connection to Redis lost',
      'connection to Redis is back',
    ]);
  });

  it('says once that it cannot connect yet, and then that it is connected', async () => {
    const port = await findFreePort();
    const connection = openConnection(standalone(tcp(port)));
    await waitUntil(() => connection.log.lines.length > 0, 'the failure is logged');
    await expect(connection.send('ping', [])).rejects.toThrow("Stream isn't writeable");
    await startRedisServer({ port });
    await waitForRedis(connection);
    expect(connection.log.lines.map((line) => line.message)).toEqual([
      'cannot connect to Redis yet',
      'connected to Redis',
    ]);
    expect(connection.log.lines[0]?.fields).toMatchObject({
      connection: 'test',
      reason: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('connects again to find a new master when it meets a replica, and makes no noise about it', async () => {
    const port = await findFreePort();
    const server = await startRedisServer({ args: ['--replicaof', `127.0.0.1 ${port}`] });
    const connection = openConnection(standalone(tcp(server.port)));
    await waitUntil(() => connection.client.status === 'ready', 'the connection is ready');
    const id = await connection.send('client', ['id']);
    await expect(connection.send('set', ['x', '1'])).rejects.toThrow('READONLY');
    await server.cli('replicaof', 'no', 'one');
    await waitForRedis(connection);
    expect(await connection.send('client', ['id'])).not.toBe(id);
    expect(connection.log.lines.map((line) => line.message)).toEqual(['connected to Redis']);
  });

  it('reports a loss when no master is found after it has met a replica', async () => {
    const port = await findFreePort();
    const server = await startRedisServer({ args: ['--replicaof', `127.0.0.1 ${port}`] });
    const connection = openConnection(standalone(tcp(server.port)));
    await waitUntil(() => connection.client.status === 'ready', 'the connection is ready');
    await expect(connection.send('set', ['x', '1'])).rejects.toThrow('READONLY');
    await server.stop();
    await waitUntil(() => connection.log.lines.length > 1, 'the loss is reported');
    expect(connection.log.lines[1]?.message).toBe('connection to Redis lost');
  });

  it('can be closed while the server is there, frozen, or gone, and logs nothing about it', async () => {
    const there = await startRedisServer();
    const frozen = await startRedisServer();
    const gone = await startRedisServer();
    const connections = [there, frozen, gone].map(({ port }) =>
      openConnection(standalone(tcp(port)), 100),
    );
    await Promise.all(connections.map((connection) => waitForRedis(connection)));
    await gone.stop();
    await waitUntil(() => connections[2]?.client.status !== 'ready', 'the loss is noticed');
    frozen.signal('SIGSTOP');
    const linesBefore = connections.map(({ log }) => log.lines.length);
    await Promise.all(connections.map((connection) => connection.close()));
    expect(connections.map(({ log }) => log.lines.length)).toEqual(linesBefore);
    await expect(connections[0]?.send('ping', [])).rejects.toThrow('Connection is closed.');
  });
});

/** Accepts connections and never answers, like a half-open or frozen peer. */
async function startSilentServer() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { port, stop, connections: () => sockets.length };
}
