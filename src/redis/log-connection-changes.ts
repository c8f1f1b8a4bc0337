import { Cluster, type Redis } from 'ioredis';
import type { Log } from '../lib/log.ts';

/**
 * Cluster nodes that are reported as lost. Beyond this number all are forgotten, and may be
 * reported again.
 */
const LOST_NODES_MAX = 1_000;

interface ConnectionChanges {
  /**
   * The client ends the connection to look for a new master. It counts as lost only if none is
   * found.
   */
  hangUp(): void;
  stop(): void;
}

/**
 * Logs once when the connection is lost and once when it is back, however many attempts lie
 * between. Listens to every error event, because an unheard one would end the process. Logs only
 * messages, because the error objects carry the arguments of commands.
 */
export function logConnectionChanges(
  client: Redis | Cluster,
  log: Log,
  name: string,
): ConnectionChanges {
  let state: 'starting' | 'up' | 'hanging up' | 'hung up' | 'down' = 'starting';
  let wasUp = false;
  let reason: string | undefined;
  let isStopped = false;

  const lose = () => {
    if (state !== 'down' && !isStopped) {
      const message = wasUp ? 'connection to Redis lost' : 'cannot connect to Redis yet';
      log.warn({ connection: name, reason: reason ?? 'closed' }, message);
    }
    state = 'down';
    reason = undefined;
  };
  client.on('ready', () => {
    const message = wasUp ? 'connection to Redis is back' : 'connected to Redis';
    if (state !== 'hung up' && !isStopped) log.info({ connection: name }, message);
    state = 'up';
    wasUp = true;
    reason = undefined;
  });
  client.on('error', (error: Error) => {
    // Later errors say less than the first.
    reason ??= messageOf(error);
    // If no Sentinel answers, there is no connection that could close.
    if (state === 'starting' || state === 'hung up') lose();
  });
  client.on('close', () => {
    if (state === 'hanging up') state = 'hung up';
    else lose();
  });
  if (client instanceof Cluster) logNodeChanges(client, log, name, () => isStopped);
  return {
    hangUp: () => {
      // In a Cluster one node hangs up, and the connection as a whole stays.
      if (state === 'up' && !(client instanceof Cluster)) state = 'hanging up';
    },
    stop: () => {
      isStopped = true;
    },
  };
}

function logNodeChanges(cluster: Cluster, log: Log, name: string, isStopped: () => boolean): void {
  const lost = new Set<string>();
  cluster.on('+node', (node: Redis) => {
    node.on('ready', () => {
      const key = `${node.options.host}:${node.options.port}`;
      if (lost.delete(key) && !isStopped()) {
        log.info({ connection: name, node: key }, 'connection to Redis node is back');
      }
    });
  });
  cluster.on('node error', (error: Error, key: string) => {
    if (lost.has(key) || isStopped()) return;
    if (lost.size >= LOST_NODES_MAX) lost.clear();
    lost.add(key);
    log.warn(
      { connection: name, node: key, reason: messageOf(error) },
      'connection to Redis node lost',
    );
  });
}

function messageOf(error: Error & { lastNodeError?: Error }): string {
  const { message, lastNodeError } = error;
  return lastNodeError ? `${message} ${lastNodeError.message}` : message;
}
