import { assert } from '../lib/assert.ts';
import type { RedisConnection } from './connect-redis.ts';
import { loadLuaScript } from './lua-script.ts';
import type { ReasonLog } from './reason-log.ts';
import { probeKey } from './redis-keys.ts';

/** Enough different hash tags to reach every node of a Cluster in turn. */
const PROBE_KEYS = 64;

const script = loadLuaScript(new URL('./probe.lua', import.meta.url), ['probe'], []);

/**
 * Resolves with the server's clock in milliseconds if Redis would accept an admission now.
 * Otherwise it throws the error that an admission would get. Callers count `round` up to reach
 * every node of a Cluster.
 */
export async function probeRedis(
  connection: Pick<RedisConnection, 'send'>,
  round: number,
): Promise<number> {
  const nowMs = await script.call(connection, { probe: probeKey(round % PROBE_KEYS) }, {});
  assert(typeof nowMs === 'number', 'probe.lua answers with a number');
  return nowMs;
}

/**
 * Why Redis would not accept an admission now: its own answer, or what ended the connection, whose
 * log is `reasons`. Undefined if it would.
 */
export async function findRedisTrouble(
  connection: Pick<RedisConnection, 'send' | 'client'>,
  reasons: Pick<ReasonLog, 'lastReason'>,
  round: number,
): Promise<string | undefined> {
  try {
    await probeRedis(connection, round);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return connection.client.status === 'ready' ? message : (reasons.lastReason() ?? message);
  }
}
