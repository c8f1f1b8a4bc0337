import type { Patch } from '../support/patch-scripts.ts';

/** A bug in the scripts that the tests must find. */
export interface Mutant extends Patch {
  readonly name: string;
}
