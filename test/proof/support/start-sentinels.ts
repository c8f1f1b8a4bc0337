import type { RedisTarget } from '../../../src/lib/address/redis-target.ts';
import { NO_AUTH, tcp } from '../../support/servers/redis-connection.ts';
import {
  startRedisServer,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

export interface FailoverSite {
  readonly target: RedisTarget;
  /**
   * This server until it is killed. On a loaded machine a server may hang for seconds, and it must
   * not be replaced for that.
   */
  readonly master: TestRedisServer;
  /** Another server takes over soon. */
  killMaster(): Promise<void>;
  /**
   * Whether a new master has taken over, all Sentinels know it, and no other is about to replace
   * it.
   */
  isFailedOver(): Promise<boolean>;
}

const SENTINELS = 3;
const REPLICAS = 2;
/**
 * How long a master must be silent to count as down. A replica that was cut off for up to ten times
 * as long may still take over. The test needs at least that much time to settle what is to be lost.
 */
const DOWN_AFTER_MS = 6_000;

/** One master with two replicas, and three Sentinels. */
export async function startSentinels(): Promise<FailoverSite> {
  const master = await startRedisServer();
  const replicaof = ['--replicaof', `127.0.0.1 ${master.port}`];
  const replicas: TestRedisServer[] = [];
  for (let n = 0; n < REPLICAS; n++) replicas.push(await startRedisServer({ args: replicaof }));
  const config = [
    `sentinel monitor main 127.0.0.1 ${master.port} 2`,
    'sentinel down-after-milliseconds main 60000',
    'sentinel failover-timeout main 4000',
    '',
  ].join('\n');
  const sentinels = await Promise.all(
    Array.from({ length: SENTINELS }, () => startRedisServer({ config, isSentinel: true })),
  );
  await waitUntil(async () => {
    const views = await Promise.all(sentinels.map((s) => s.cli('sentinel', 'master', 'main')));
    return views.every(
      (view) =>
        view.includes(`num-slaves\n${REPLICAS}\n`) &&
        view.includes(`num-other-sentinels\n${SENTINELS - 1}\n`),
    );
  }, 'the sentinels know the replicas and each other');
  await waitForReplicas(master, REPLICAS);
  return {
    master,
    async killMaster() {
      const set = ['sentinel', 'set', 'main', 'down-after-milliseconds', `${DOWN_AFTER_MS}`];
      await Promise.all(sentinels.map((sentinel) => sentinel.cli(...set)));
      await master.stop();
    },
    isFailedOver: () => haveAgreed(sentinels, replicas),
    target: {
      topology: 'sentinel',
      sentinels: sentinels.map(({ port }) => tcp(port)),
      masterName: 'main',
      tls: false,
      auth: NO_AUTH,
      database: 0,
    },
  };
}

/**
 * Whether the Sentinels agree on one replica, the others follow it, and no Sentinel is about to
 * change that.
 */
async function haveAgreed(
  sentinels: readonly TestRedisServer[],
  replicas: readonly TestRedisServer[],
): Promise<boolean> {
  const views = await Promise.all(sentinels.map((s) => s.cli('sentinel', 'master', 'main')));
  const successor = replicas.find(({ port }) =>
    views.every((view) => view.includes(`\nport\n${port}\n`) && view.includes('\nflags\nmaster\n')),
  );
  return successor !== undefined && (await countReplicas(successor)) === replicas.length - 1;
}

async function countReplicas(master: TestRedisServer): Promise<number> {
  const info = await master.cli('info', 'replication');
  return (info.match(/state=online/g) ?? []).length;
}

/** Waits until this many replicas follow this server and have all of its data. */
export async function waitForReplicas(master: TestRedisServer, count: number): Promise<void> {
  await waitUntil(async () => (await countReplicas(master)) === count, 'the replicas follow');
}

/**
 * Cuts the replicas off from this server while it continues to serve: when it dies, everything that
 * it acknowledged meanwhile is lost. Without the cut, replicas are behind by less than a
 * millisecond.
 */
export async function cutReplication(master: TestRedisServer): Promise<void> {
  await master.cli('acl', 'setuser', 'default', '-psync', '-sync');
  await master.cli('client', 'kill', 'type', 'replica');
  await waitUntil(
    async () => (await master.cli('info', 'replication')).includes('connected_slaves:0'),
    'the replicas are cut off',
  );
}
