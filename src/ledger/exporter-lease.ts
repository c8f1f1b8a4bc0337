import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { EXPORTER_KEY } from '../redis/redis-keys.ts';

const holdScript = loadLuaScript(
  new URL('./hold-lease.lua', import.meta.url),
  ['lease'],
  ['node_id', 'lease_ms'],
);
const releaseScript = loadLuaScript(
  new URL('./release-lease.lua', import.meta.url),
  ['lease'],
  ['node_id'],
);

/** Takes the exporter's lease, or renews it; false while another node has it. */
export async function holdExporterLease(
  connection: Pick<RedisConnection, 'send'>,
  nodeId: string,
  leaseMs: number,
): Promise<boolean> {
  const args = { node_id: nodeId, lease_ms: leaseMs };
  return (await holdScript.call(connection, { lease: EXPORTER_KEY }, args)) === 1;
}

export async function releaseExporterLease(
  connection: Pick<RedisConnection, 'send'>,
  nodeId: string,
): Promise<void> {
  await releaseScript.call(connection, { lease: EXPORTER_KEY }, { node_id: nodeId });
}
