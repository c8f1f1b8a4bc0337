import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../support/wait-until.ts';
import type { Scene } from '../run-row.ts';
import { countReplicas, findReplicas, MASTERS_OF_CLUSTER } from '../support/layouts.ts';
import type { FaultServer } from '../support/redis-server.ts';
import { KEYS_OF_AN_ACCOUNT } from '../support/world.ts';

/** What happens to servers that have replicas, with Sentinel or in a Cluster. */

const AWAY_MS = 8_000;
const SENTINELS_AWAY_MS = 5_000;
export const WHOLE_MAX_MS = 120_000;

export const pick = (servers: readonly FaultServer[], number: number): FaultServer => {
  const server = servers[number];
  if (server === undefined) throw new Error(`there is no server ${number}`);
  return server;
};

/** Each shard has one master again, and all others follow. */
export async function waitUntilWhole({ site }: Scene): Promise<void> {
  const { servers, sentinels } = site.layout;
  const masters = sentinels.length > 0 ? 1 : MASTERS_OF_CLUSTER;
  await waitUntil(
    async () => {
      const counts = await Promise.all(
        servers.map((server) => countReplicas(server).catch(() => 0)),
      );
      return counts.reduce((sum, count) => sum + count, 0) >= servers.length - masters;
    },
    'every replica follows',
    WHOLE_MAX_MS,
  );
}

export async function killMaster(scene: Scene): Promise<void> {
  const master = pick(scene.site.layout.servers, 0);
  await master.kill();
  await scene.waitForService();
  await master.start();
  await waitUntilWhole(scene);
}

/** A machine is cut off from the others, with a master, its Sentinel and one node with its clients. */
export async function isolateMaster(scene: Scene): Promise<void> {
  const { site, load } = scene;
  const [machine] = site.networks?.machines ?? [];
  const [node] = site.nodes;
  if (machine === undefined || node === undefined) throw new Error('there are no networks');
  const cutMs = performance.now();
  site.networks?.isolate(machine);
  await sleep(AWAY_MS);
  const whole = load.asked.filter(
    ({ url, sentMs, status }) => url === node.url && sentMs > cutMs && status === 200,
  );
  const lastMs = Math.max(cutMs, ...whole.map(({ headMs }) => headMs));
  scene.note(
    `${whole.length} admitted on the cut off side, the last ${Math.round(lastMs - cutMs)} ms after the cut`,
  );
  site.networks?.rejoin(machine);
  await scene.waitForService();
  await waitUntilWhole(scene);
}

export async function freezeMaster(scene: Scene): Promise<void> {
  const master = pick(scene.site.layout.servers, 0);
  master.signal('SIGSTOP');
  await sleep(AWAY_MS);
  master.signal('SIGCONT');
  await scene.waitForService();
  await waitUntilWhole(scene);
}

/** The one that is left can start no failover, and none is needed. */
export async function killSentinels(scene: Scene): Promise<void> {
  const [first, second] = scene.site.layout.sentinels;
  const gone = [first, second].flatMap((sentinel) => sentinel ?? []);
  await Promise.all(gone.map((sentinel) => sentinel.kill()));
  await sleep(SENTINELS_AWAY_MS);
  await scene.waitForService();
  await Promise.all(gone.map((sentinel) => sentinel.start()));
}

/** A key that was revoked stays so, although the master that was told is gone at once. */
export async function revokeAndKill(scene: Scene): Promise<void> {
  const { site, world } = scene;
  const keys = world.keys.filter((_, index) => index % KEYS_OF_AN_ACCOUNT === 0).slice(0, 8);
  for (const key of keys) {
    await site.admin('POST', `/keys/${key.id}/revoke`, {});
    key.revokedMs = performance.now();
  }
  await killMaster(scene);
  const states = await Promise.all(
    keys.map(({ id }) => site.admin<{ status: string }>('GET', `/keys/${id}`)),
  );
  const valid = states.filter(({ status }) => status !== 'revoked').length;
  if (valid > 0) scene.violate(`${valid} of ${keys.length} revoked keys are valid again`);
}

export async function killAndFreezeMasters(scene: Scene): Promise<void> {
  await killMaster(scene);
  const master = pick(scene.site.layout.servers, 1);
  master.signal('SIGSTOP');
  await sleep(AWAY_MS);
  master.signal('SIGCONT');
  await scene.waitForService();
  await waitUntilWhole(scene);
}

/** The accounts of one shard wait; all others are served. */
export async function killShard(scene: Scene): Promise<void> {
  const { site, load } = scene;
  const { servers } = site.layout;
  const master = pick(servers, 0);
  const shard = [master, ...(await findReplicas(master, servers))];
  await Promise.all(shard.map((server) => server.kill()));
  const sinceMs = performance.now();
  await sleep(AWAY_MS);
  // Not at once: nodes have to hear of it.
  const served = new Set(
    load.asked.flatMap(({ key, status, sentMs }) =>
      status === 200 && sentMs > sinceMs + AWAY_MS / 2 ? key.account.id : [],
    ),
  );
  scene.note(`${served.size} accounts were served without the shard`);
  if (served.size === 0) scene.violate('no account was served while one shard was away');
  for (const server of shard) await server.start();
  await scene.waitForService();
  await waitUntilWhole(scene);
}
