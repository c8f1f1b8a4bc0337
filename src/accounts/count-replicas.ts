import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';

/** How long an operator who changes something waits for a replica to have the change. */
const WAIT_TIME_MAX_MS = 500;

const script = loadLuaScript(new URL('./confirm.lua', import.meta.url), ['record'], []);

/**
 * Waits until a replica has everything written to the node of this record. Resolves with how many
 * replicas have it; 0 if there are no replicas, or if the number is unknown.
 */
export async function countReplicas(
  connection: Pick<RedisConnection, 'client'>,
  record: string,
): Promise<number> {
  try {
    const role = await confirmAnd(connection, record, ['role']);
    const replicas: unknown = Array.isArray(role) ? role[2] : [];
    if (!Array.isArray(replicas) || replicas.length === 0) return 0;
    return Number(await confirmAnd(connection, record, ['wait', '1', String(WAIT_TIME_MAX_MS)]));
  } catch {
    // The write took place, whatever a Redis says that knows no ROLE or WAIT.
    return 0;
  }
}

/**
 * Sends a command without keys right after the script: over the same connection, to the record's
 * node.
 */
async function confirmAnd(
  { client }: Pick<RedisConnection, 'client'>,
  record: string,
  [name, ...args]: readonly [string, ...string[]],
): Promise<unknown> {
  let reply: unknown;
  const send: RedisConnection['send'] = async (command, scriptArgs) => {
    const pipeline = client.pipeline();
    pipeline.call(command, ...scriptArgs);
    pipeline.call(name, ...args);
    const [confirmed, asked] = (await pipeline.exec()) ?? [];
    const error = confirmed?.[0] ?? asked?.[0];
    if (error) throw error;
    reply = asked?.[1];
    return confirmed?.[1];
  };
  await script.call({ send }, { record }, {});
  return reply;
}
