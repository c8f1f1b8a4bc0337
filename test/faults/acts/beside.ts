import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startStandby } from '../../support/servers/start-postgres.ts';
import type { Scene } from '../run-row.ts';
import { fillDiskWith } from '../support/small-disk.ts';

/** What happens beside Redis: to the database of the books, to disks of nodes, to a whole node. */

const AWAY_MS = 6_000;
const PAUSE_MS = 1_500;
const KILLS = 3;
/** Longer than the lease of a hold. */
const FROZEN_MS = 70_000;

/** Requests need only Redis: nobody is refused. */
export async function takeBooksAway(scene: Scene): Promise<void> {
  const { postgres } = scene;
  for (let time = 0; time < KILLS; time += 1) {
    await postgres.kill('SIGKILL');
    await sleep(PAUSE_MS);
    await postgres.start();
    await sleep(PAUSE_MS);
  }
  process.kill(postgres.pid(), 'SIGSTOP');
  await sleep(AWAY_MS);
  process.kill(postgres.pid(), 'SIGCONT');
  await scene.waitForService();
}

/** What the standby lacks is in no database then; the nodes enter it again. */
export async function failBooksOver(scene: Scene): Promise<void> {
  const undos: (() => unknown)[] = [];
  try {
    const standby = await startStandby((undo) => void undos.push(undo), scene.postgres);
    await standby.catchUp();
    await standby.stopFollowing();
    await sleep(AWAY_MS);
    if ((await standby.takeOver()) <= 0) scene.violate('the standby lacked nothing');
    await scene.waitForService();
  } finally {
    for (const undo of undos) await undo();
  }
}

/** What a node notes on its disk is for the time in which Redis is out: here both are. */
export async function fillDisksOfNodes(scene: Scene): Promise<void> {
  const { nodes, layout } = scene.site;
  const fillers = nodes.map(({ dataDir }) => join(dataDir, 'filler'));
  for (const filler of fillers) fillDiskWith(filler);
  await sleep(PAUSE_MS);
  for (const server of layout.servers) server.signal('SIGSTOP');
  await sleep(AWAY_MS);
  for (const server of layout.servers) server.signal('SIGCONT');
  await scene.waitForService();
  for (const filler of fillers) rmSync(filler);
}

/** As a machine that is suspended: meanwhile others end what it had begun. */
export async function freezeNode(scene: Scene): Promise<void> {
  const [node] = scene.site.nodes;
  if (node === undefined) throw new Error('there is no node');
  await node.signalAll('SIGSTOP');
  node.isWanted = false;
  await sleep(FROZEN_MS);
  await node.signalAll('SIGCONT');
  node.isWanted = true;
  await scene.waitForService();
}
