import { listProcessTree } from '../figures/cpu-times.ts';
import { type SpawnOptions, spawnPinned } from '../pinned-process.ts';
import type { Running } from '../scenario.ts';
import { waitForPort } from '../wait-for-port.ts';

/** A contestant that is a single command and is ready as soon as its port is open. */
export async function runContestant(
  command: readonly string[],
  port: number,
  routeOf: Running['routeOf'],
  options: SpawnOptions = {},
): Promise<Running> {
  const child = await spawnPinned('contestant', command, options);
  try {
    await waitForPort(child, port);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    port,
    routeOf,
    pids: () => listProcessTree(child.pid),
    sidePids: {},
    stop: child.stop,
  };
}
