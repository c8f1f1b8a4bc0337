import type { Scenario } from './scenario.ts';
import { standard } from './scenarios/standard.ts';

/** In the order in which they run when none is named. */
export const COMPARISONS: readonly Scenario[] = [standard];
