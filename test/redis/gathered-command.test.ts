import type { Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';

describe('commands', () => {
  let connection: TestConnection;

  beforeAll(async () => {
    const server = await startRedisServer();
    connection = openConnection(standalone(tcp(server.port)));
    await waitForRedis(connection);
  });
  afterAll(async () => {
    await closeConnections();
    await stopRedisServers();
  });

  function socketOf({ client }: TestConnection): Socket {
    if (!(client instanceof Redis)) throw new Error('not a single server');
    return client.stream as Socket;
  }

  it('of one turn of the event loop are written together, each with its own reply', async () => {
    const socket = socketOf(connection);
    const numbers = Array.from({ length: 100 }, (_, number) => `${number}`);
    const replies = numbers.map((number) => connection.send('echo', [number]));
    expect(socket.writableLength).toBeGreaterThan(100 * 'echo'.length);
    expect(await Promise.all(replies)).toEqual(numbers);
    expect([socket.writableCorked, socket.writableLength]).toEqual([0, 0]);
    expect(await connection.send('ping', [])).toBe('PONG');
  });

  it('keep their order, whoever sends them', async () => {
    const { client } = connection;
    const replies = await Promise.all([
      connection.send('rpush', ['order', 'a']),
      client.rpush('order', 'b'),
      connection.send('rpush', ['order', 'c']),
      client.pipeline().rpush('order', 'd').exec(),
      connection.send('lrange', ['order', '0', '-1']),
    ]);
    expect(replies.at(-1)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('fail alone', async () => {
    const replies = await Promise.allSettled([
      connection.send('echo', ['before']),
      connection.send('no-such-command', []),
      connection.send('eval', ["return redis.error_reply('NO')", '1', 'k', 'v']),
      connection.send('echo', ['after']),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    ]);
  });

  it('carry texts and bytes in any order', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const args = ['žluťoučký', bytes, '', Buffer.alloc(0), bytes, '日本', 'end'];
    const script =
      'local all = {} for i, arg in ipairs(ARGV) do all[i] = redis.sha1hex(arg) end return all';
    const hashes = await connection.send('eval', [script, '2', 'one', 'two', ...args]);
    const { createHash } = await import('node:crypto');
    expect(hashes).toEqual(args.map((arg) => createHash('sha1').update(arg).digest('hex')));
  });
});
