import { setTimeout as sleep } from 'node:timers/promises';
import type { Scene } from '../run-row.ts';
import { ask } from '../support/ask.ts';
import { type FaultNode, PROGRAM } from '../support/start-node.ts';
import { KEYS_OF_AN_ACCOUNT } from '../support/world.ts';
import { serverOf } from './one-server.ts';

/** What happens to nodes and their processes. */

const KILLS = 25;
const PAUSE_MS = 1_000;

const pair = ({ site }: Scene): readonly [FaultNode, FaultNode] => {
  const [first, second] = site.nodes;
  if (first === undefined || second === undefined) throw new Error('there are no two nodes');
  return [first, second];
};

/** A worker, a primary, and all processes of a machine, in the middle of streams. */
export async function killProcesses(scene: Scene): Promise<void> {
  const [first, second] = pair(scene);
  const [worker] = await first.readWorkerPids();
  first.killedMs.push(performance.now());
  if (worker !== undefined) process.kill(worker, 'SIGKILL');
  await scene.waitForService();
  await second.killPrimary();
  await second.start();
  await scene.waitForService();
  await first.kill();
  await sleep(PAUSE_MS);
  await first.start();
  await scene.waitForService();
}

/** One of the two nodes moves the entries to the books; the other goes on where it was. */
export async function killWriters(scene: Scene): Promise<void> {
  const nodes = pair(scene);
  for (let time = 0; time < KILLS; time += 1) {
    const node = nodes[time % nodes.length] ?? nodes[0];
    await node.kill();
    await sleep(Math.random() * PAUSE_MS);
    await node.start();
  }
  await scene.waitForService();
}

export async function renew(scene: Scene): Promise<void> {
  for (const node of pair(scene)) {
    await node.stop();
    await node.start(PROGRAM);
    await scene.waitForService();
  }
}

/** Nodes that do not hear of a revocation ask again when they renew the lease of a stream. */
export async function loseRevocations(scene: Scene): Promise<void> {
  const { site, world } = scene;
  const server = serverOf(scene);
  const keys = world.keys.filter(
    ({ account }, index) => !account.isPoor && index % KEYS_OF_AN_ACCOUNT === 0,
  );
  const [first, second] = pair(scene);
  const streams = keys.map((key, index) =>
    ask({
      ...{ url: (index % 2 === 0 ? first : second).url, key },
      ...{ isStream: true, isLong: true, onHead: () => {} },
    }),
  );
  await sleep(PAUSE_MS);
  // Nobody may listen until all are revoked.
  await server.cli('ACL', 'SETUSER', 'default', '-subscribe', '-ssubscribe');
  await server.cli('CLIENT', 'KILL', 'TYPE', 'pubsub');
  const revoked = keys.map(async (key) => {
    await site.admin('POST', `/keys/${key.id}/revoke`, {});
    const revokedMs = performance.now();
    key.revokedMs = revokedMs;
    return revokedMs;
  });
  const delaysMs = revoked.map(async (since, index) => {
    const [revokedMs, ended] = await Promise.all([since, streams[index]]);
    return ended?.status === 200 ? performance.now() - revokedMs : undefined;
  });
  await Promise.all(revoked);
  const listeners = await server.cli('CLIENT', 'LIST', 'TYPE', 'pubsub');
  if (listeners !== '') scene.violate(`somebody listened: ${listeners}`);
  await server.cli('ACL', 'SETUSER', 'default', '+subscribe', '+ssubscribe');
  const delays = (await Promise.all(delaysMs)).flatMap((delayMs) => delayMs ?? []);
  delays.sort((one, other) => one - other);
  const at = (share: number) => Math.round(delays[Math.floor(share * (delays.length - 1))] ?? 0);
  scene.note(
    `${delays.length} streams ended ${at(0.5)} ms (median) to ${at(1)} ms after revocation`,
  );
  if (delays.length === 0) scene.violate('no stream was open');
  await scene.waitForService();
}
