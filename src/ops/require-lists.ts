import type { FleetDesk } from './fleet-desk.ts';
import { OpsProblem } from './ops-problem.ts';

/** Controls that an earlier version knows nothing of. */
interface ListControls {
  readonly limits?: readonly unknown[] | undefined;
  readonly userLimits?: readonly unknown[] | undefined;
  readonly isUserRequired?: boolean | undefined;
  readonly groupId?: string | undefined;
}

/** Throws while a node runs that would not hold these limits. */
export async function requireLists(
  fleet: Pick<FleetDesk, 'findNodesWithoutLists'>,
  { limits = [], userLimits = [], isUserRequired = false, groupId = '' }: ListControls,
): Promise<void> {
  const hasLists = limits.length + userLimits.length > 0 || isUserRequired || groupId !== '';
  if (!hasLists) return;
  const older = await fleet.findNodesWithoutLists();
  if (older.length === 0) return;
  throw new OpsProblem(
    409,
    'older_nodes',
    `${older.join(', ')}: of a version that knows no lists of limits, and would not hold them`,
  );
}
