import type { Patch } from '../../support/patch-scripts.ts';
import type { ProfileName } from './profiles.ts';
import type { ProofAccount } from './world.ts';

/** All that a worker process is told. */
export interface WorkerOrder {
  readonly profile: ProfileName;
  readonly port: number;
  /** Where it writes its events, into a file with its tag for a name. */
  readonly dir: string;
  /** Four characters. */
  readonly tag: string;
  readonly seed: number;
  readonly patches: readonly Patch[];
  readonly world: readonly ProofAccount[];
}
