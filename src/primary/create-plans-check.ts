import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { FleetDesk } from '../ops/fleet-desk.ts';

/** At a start Redis is often not connected yet. While it is out, nobody is admitted. */
const ASK_TIME_MAX_MS = 3_000;
const ASK_PAUSE_MS = 100;

type Fleet = Pick<FleetDesk, 'findNodesWithoutLists'>;

/**
 * Returns a check that throws while a node of an earlier version runs: that node would not hold the
 * limits of these plans, and could not read the holds of this one. `node` is this node: the fleet
 * may still list its own last run, which may have had that version.
 */
export function createPlansCheck(fleet: () => Fleet | undefined, node: string) {
  const findOlder = async (): Promise<readonly string[]> => {
    const deadlineMs = performance.now() + ASK_TIME_MAX_MS;
    for (;;) {
      try {
        return (await fleet()?.findNodesWithoutLists()) ?? [];
      } catch {
        if (performance.now() >= deadlineMs) return [];
      }
      await sleep(ASK_PAUSE_MS);
    }
  };

  return async (plans: Config['plans']): Promise<void> => {
    if (!Object.values(plans).some((plan) => typeof plan !== 'number' && plan.list !== '')) return;
    const older = (await findOlder()).filter((id) => id !== node);
    if (older.length === 0) return;
    throw new ConfigError([
      `plans: limits of a plan need every node to know lists of limits, and these do not: ${older.join(', ')}; start all nodes with this version first`,
    ]);
  };
}
