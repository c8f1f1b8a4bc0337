import fc from 'fast-check';

const RUNS = 100;
const PART_MIN = 1 / 20;
/** Some properties are about a case of a hundred. */
const SKIPS_PER_RUN_MAX = 1_000;

interface Runs {
  readonly numRuns?: number;
  /** A slow machine stops after this time, but never before it has done a part of the runs. */
  readonly timeMs: number;
}

/** Asserts a property in as many cases as there is time for. */
export function assertInTime<T>(property: fc.IProperty<T>, runs: Runs): void {
  const { atLeast, more } = split(runs);
  fc.assert(property, atLeast);
  fc.assert(property, more);
}

export async function assertAsyncInTime<T>(
  property: fc.IAsyncProperty<T>,
  runs: Runs,
): Promise<void> {
  const { atLeast, more } = split(runs);
  await fc.assert(property, atLeast);
  await fc.assert(property, more);
}

function split({ numRuns = RUNS, timeMs }: Runs) {
  const runsMin = Math.ceil(numRuns * PART_MIN);
  return {
    atLeast: { numRuns: runsMin, maxSkipsPerRun: SKIPS_PER_RUN_MAX },
    more: {
      ...{ numRuns: numRuns - runsMin, maxSkipsPerRun: SKIPS_PER_RUN_MAX },
      interruptAfterTimeLimit: timeMs,
    },
  };
}
