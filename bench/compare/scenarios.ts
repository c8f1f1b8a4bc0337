import type { Scenario } from './scenario.ts';
import { standard } from './scenarios/standard.ts';
import { streamBurst, streamPaced, streamsOpen } from './scenarios/streams.ts';

/** In the order in which they run when none is named. */
export const COMPARISONS: readonly Scenario[] = [standard, streamBurst, streamPaced, streamsOpen];
