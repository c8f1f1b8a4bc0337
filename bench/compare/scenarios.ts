import type { Scenario } from './scenario.ts';
import { bodies } from './scenarios/bodies.ts';
import { formats } from './scenarios/formats.ts';
import { fewClients, fixedRate, slowUpstream, workerTail } from './scenarios/slow-upstream.ts';
import { standard } from './scenarios/standard.ts';
import { streamBurst, streamPaced, streamsOpen } from './scenarios/streams.ts';
import { keys, redis, refusals, workers } from './scenarios/ways-to-run.ts';

/** The order in which the scenarios run if none is named. */
export const COMPARISONS: readonly Scenario[] = [
  standard,
  bodies,
  streamBurst,
  streamPaced,
  streamsOpen,
  formats,
  refusals,
  keys,
  workers,
  redis,
  slowUpstream,
  fewClients,
  fixedRate,
  workerTail,
];
