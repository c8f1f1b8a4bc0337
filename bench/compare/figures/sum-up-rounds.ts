import type { Figures, Round, Spread } from './round.ts';

/** With fewer clean rounds than this, noisy rounds are used too. */
const CLEAN_ROUNDS_MIN = 2;

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
  return { median, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

export function sumUpRounds(rounds: readonly Round[], failure?: string): Figures {
  const clean = rounds.filter(({ isNoisy }) => !isNoisy);
  const used = clean.length >= CLEAN_ROUNDS_MIN ? clean : rounds;
  const spread = (pick: (round: Round) => number) => spreadOf(used.map(pick));
  const spreadEach = (pick: (round: Round) => Readonly<Record<string, number>>) =>
    Object.fromEntries(
      [...new Set(used.flatMap((round) => Object.keys(pick(round))))].map((name) => [
        name,
        spread((round) => pick(round)[name] ?? 0),
      ]),
    );
  return {
    ...(failure !== undefined && { failure }),
    rounds,
    roundsUsed: used.length,
    generator: used[0]?.generator ?? '',
    failures: rounds.reduce((all, { failures }) => all + failures, 0),
    cpuMicros: spread(({ cpuMicros }) => cpuMicros),
    unitsPerSecond: spread(({ unitsPerSecond }) => unitsPerSecond),
    busyShare: spread(({ busyShare }) => busyShare),
    residentMb: spread(({ residentMb }) => residentMb),
    sideMicros: spreadEach(({ sideMicros }) => sideMicros),
    latencyMs: spreadEach(({ latencyMs }) => latencyMs),
    details: spreadEach(({ details }) => details),
  };
}
