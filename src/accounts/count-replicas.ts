import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { waitAtMost } from '../timers/wait-at-most.ts';

/** How long an operator who changes something waits for a replica to have the change. */
const WAIT_TIME_MAX_MS = 500;

const script = loadLuaScript(new URL('./confirm.lua', import.meta.url), ['record'], []);

/**
 * Waits until a replica has everything written to the node of this record. Resolves with how many
 * replicas have it; 0 if there are no replicas, or if the number is unknown.
 */
export type CountReplicas = (record: string) => Promise<number>;

/**
 * While Redis waits for a replica, it reads no further commands of the connection, so this one
 * must carry no others. All changes that come during a wait share the next one; in a Cluster,
 * those of a hash tag, since others may be on another node.
 */
export function createCountReplicas(
  connection: Pick<RedisConnection, 'client' | 'isCluster'>,
): CountReplicas {
  const sharing = new Map<string, CountReplicas>();
  return async (record) => {
    const tag = connection.isCluster ? record.slice(0, record.indexOf('}')) : '';
    const ask = sharing.get(tag) ?? shareNext((written) => askNode(connection, written));
    sharing.set(tag, ask);
    let replicas = 0;
    const counted = ask(record).then((count) => {
      replicas = count;
    });
    await waitAtMost(WAIT_TIME_MAX_MS, counted);
    return replicas;
  };
}

/** Calls that come while one runs share the next one. The call must not reject. */
function shareNext(ask: CountReplicas): CountReplicas {
  let running: Promise<number> | undefined;
  let next: Promise<number> | undefined;
  const run = (record: string) => {
    running = ask(record).finally(() => {
      running = undefined;
    });
    return running;
  };
  return (record) => {
    if (next !== undefined) return next;
    if (running === undefined) return run(record);
    next = running.then(() => {
      next = undefined;
      return run(record);
    });
    return next;
  };
}

async function askNode(
  connection: Pick<RedisConnection, 'client'>,
  record: string,
): Promise<number> {
  try {
    const role = await confirmAnd(connection, record, ['role']);
    const replicas: unknown = Array.isArray(role) ? role[2] : [];
    if (!Array.isArray(replicas) || replicas.length === 0) return 0;
    return Number(await confirmAnd(connection, record, ['wait', '1', String(WAIT_TIME_MAX_MS)]));
  } catch {
    // The write took place, even if this Redis does not know ROLE or WAIT.
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
