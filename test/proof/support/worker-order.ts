import type { PlanLimits } from '../../../src/protocol/admission.ts';
import type { Patch } from '../../support/patch-scripts.ts';
import type { ProfileName } from './profiles.ts';
import type { ProofAccount } from './world.ts';

/** Everything that a worker process is told. */
export interface WorkerOrder {
  readonly profile: ProfileName;
  readonly port: number;
  /** The folder for the file of its events, which is named after its tag. */
  readonly dir: string;
  /** Four characters. */
  readonly tag: string;
  readonly seed: number;
  readonly patches: readonly Patch[];
  readonly plans: PlanLimits;
  readonly world: readonly ProofAccount[];
}
