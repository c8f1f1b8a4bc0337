import { Redis } from 'ioredis';
import type { Endpoint } from '../../../src/lib/address/endpoint.ts';
import type { RedisTarget } from '../../../src/lib/address/redis-target.ts';
import { connectRedis, type RedisConnection } from '../../../src/redis/connect-redis.ts';
import { createMemoryLog, type MemoryLog } from '../memory-log.ts';
import { waitUntil } from '../wait-until.ts';

export interface TestConnection extends RedisConnection {
  readonly log: MemoryLog;
}

const open = new Set<RedisConnection>();

/** Longer than a server or this process stands still on a busy machine. */
const PATIENCE_MS = 10_000;

/**
 * Connects as the gateway does, with more patience unless a test needs less. Every test file ends
 * with `closeConnections`.
 */
export function openConnection(
  target: RedisTarget,
  commandTimeoutMs?: number,
  { isBusy = false } = {},
): TestConnection {
  const log = createMemoryLog();
  const connection = connectRedis({
    ...{ target, name: 'test', isBusy, log },
    commandTimeoutMs: commandTimeoutMs ?? PATIENCE_MS,
  });
  if (commandTimeoutMs === undefined && connection.client instanceof Redis) {
    // Else a reply that is two seconds late ends the connection.
    connection.client.options.socketTimeout = PATIENCE_MS;
  }
  open.add(connection);
  return { ...connection, log };
}

export async function closeConnections(): Promise<void> {
  await Promise.all([...open].map((connection) => connection.close()));
  open.clear();
}

export function standalone(endpoint: Endpoint): RedisTarget {
  return { topology: 'standalone', endpoint, tls: false, auth: NO_AUTH, database: 0 };
}

export function tcp(port: number): Extract<Endpoint, { kind: 'tcp' }> {
  return { kind: 'tcp', host: '127.0.0.1', port };
}

export const NO_AUTH = { username: undefined, password: undefined };

/** Waits until calls succeed by calling repeatedly, as the gateway's callers would. */
export async function waitForRedis(connection: RedisConnection, timeoutMs?: number): Promise<void> {
  await waitUntil(
    () =>
      connection.send('set', ['ready', '1']).then(
        () => true,
        () => false,
      ),
    'Redis accepts a write',
    timeoutMs,
  );
}
