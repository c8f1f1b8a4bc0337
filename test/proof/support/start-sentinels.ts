import type { RedisTarget } from '../../../src/lib/address/redis-target.ts';
import { NO_AUTH, tcp } from '../../support/servers/redis-connection.ts';
import {
  startRedisServer,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

export interface FailoverSite {
  readonly target: RedisTarget;
  /** Until it is killed, this one: a loaded machine may leave a server waiting for seconds, and nobody replaces it for that. */
  readonly master: TestRedisServer;
  /** Another one takes over soon. */
  killMaster(): Promise<void>;
  /** One took over, all know it, and it will not be replaced at once by another. */
  isFailedOver(): Promise<boolean>;
}

const SENTINELS = 3;
const REPLICAS = 2;
/**
 * How long a master that died has been silent when it counts as down. Ten times that is how long a replica may have
 * been cut off and still take over: no less than the test gives itself to settle what is to be lost.
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

/** The Sentinels on one of the replicas, whom the other ones follow, and none of them is about to change that. */
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

/** Waits until so many replicas of this server have all of its data, and follow it. */
export async function waitForReplicas(master: TestRedisServer, count: number): Promise<void> {
  await waitUntil(async () => (await countReplicas(master)) === count, 'the replicas follow');
}

/**
 * From now on its replicas learn nothing more of this server, and it goes on serving: when it dies, what it
 * acknowledged meanwhile is lost. Without this, replicas are behind by less than a millisecond.
 */
export async function cutReplication(master: TestRedisServer): Promise<void> {
  await master.cli('acl', 'setuser', 'default', '-psync', '-sync');
  await master.cli('client', 'kill', 'type', 'replica');
  await waitUntil(
    async () => (await master.cli('info', 'replication')).includes('connected_slaves:0'),
    'the replicas are cut off',
  );
}
