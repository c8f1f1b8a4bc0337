import { waitAtMost } from '../timers/wait-at-most.ts';
import type { RedisConnection } from './connect-redis.ts';

/** Resolves when commands can be sent, or when the time is up. */
export async function waitForConnection(
  { client }: Pick<RedisConnection, 'client'>,
  timeMaxMs: number,
): Promise<void> {
  if (client.status === 'ready') return;
  const isReady = new Promise((resolve) => client.once('ready', resolve));
  await waitAtMost(timeMaxMs, isReady);
}
