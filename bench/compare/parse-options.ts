import { parseArgs } from 'node:util';

export interface Options {
  /** Seconds of each round. Overrides the scenario. */
  readonly seconds: number | undefined;
  readonly rounds: number | undefined;
  /** Runs only these contestants. */
  readonly contestants: readonly string[] | undefined;
  readonly resultsDir: string;
}

/** Enough to see whether everything runs, and the first digit of each figure. */
const QUICK = { seconds: 1, rounds: 1 };

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      contestants: { type: 'string' },
      quick: { type: 'boolean', default: false },
      'results-dir': { type: 'string', default: 'bench/results' },
    },
  });
  const given = values.quick ? QUICK : { seconds: undefined, rounds: undefined };
  return {
    seconds: parseCount('seconds', values.seconds) ?? given.seconds,
    rounds: parseCount('rounds', values.rounds) ?? given.rounds,
    contestants: values.contestants?.split(','),
    resultsDir: values['results-dir'],
  };
}

function parseCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new Error(`--${name} ${text} is no whole number from 1`);
  return Number(text);
}
