import { setTimeout as sleep } from 'node:timers/promises';
import type { FakeClock } from '../../support/servers/fake-clock.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Scene } from '../run-row.ts';
import { serverOf } from './one-server.ts';

/** Steps of clocks: of that of Redis, by which money and limits go, and of that of a node. */

const STEPS_SECONDS = [5, -5, 60, -60, 600, -600];
const NODE_STEPS_SECONDS = [60, -60, 600, -600, 10_800, -10_800];
const STAY_MS = 2_500;
const MONTH_END_MAX_MS = 120_000;

export function stepClock(scene: Scene): Promise<void> {
  return step(scene, scene.site.clock, STEPS_SECONDS);
}

/** The other node, Redis and the clients know nothing of it. */
export function stepClockOfNode(scene: Scene): Promise<void> {
  return step(scene, scene.site.nodeClock, NODE_STEPS_SECONDS);
}

async function step(
  scene: Scene,
  clock: FakeClock | undefined,
  steps: readonly number[],
): Promise<void> {
  if (clock === undefined) throw new Error('the clock is that of the machine');
  for (const seconds of steps) {
    clock.set(seconds);
    await sleep(STAY_MS);
    clock.set(0);
    await sleep(STAY_MS);
  }
  await scene.waitForService();
}

/** A request pays in the month of its admission, and caps begin anew. */
export async function passMonthEnd(scene: Scene): Promise<void> {
  const server = serverOf(scene);
  const readDate = async () => {
    const [seconds] = (await server.cli('TIME')).split('\n');
    return new Date(Number(seconds) * 1_000);
  };
  const before = (await readDate()).getUTCMonth();
  if (before === new Date().getUTCMonth()) {
    await waitUntil(
      async () => (await readDate()).getUTCMonth() !== before,
      'the month has ended',
      MONTH_END_MAX_MS,
    );
    scene.note(`${scene.load.openCount()} requests were open at the end of the month`);
  } else {
    scene.violate('the month had ended before the load began');
  }
  await scene.waitForService();
}

export function secondsToMonthEnd(): number {
  const now = new Date();
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  return Math.floor((end - now.getTime()) / 1_000);
}
