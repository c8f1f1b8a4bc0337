import { spawnSync } from 'node:child_process';
import { SIMULATIONS } from './source-mutants.ts';

const VITEST = ['vitest', 'run', '--config', 'test/simulation/vitest.config.ts'];

/**
 * The simulations must find every mutant of the source, and nothing in the source as it is. Returns
 * the names of those for which that is not so.
 */
export function runSourceMutants(): string[] {
  const problems: string[] = [];
  for (const { test, mutants, schedules } of SIMULATIONS) {
    const asIs = simulate(test, schedules, '');
    if (asIs.status !== 0) problems.push(`${test} as it is`);
    console.log(`${asIs.status === 0 ? 'ok      ' : 'PROBLEM '}  ${test} as it is`);
    for (const { name } of mutants) {
      const { foundBy } = simulate(test, schedules, name);
      if (foundBy === undefined) problems.push(name);
      console.log(`${foundBy === undefined ? 'SURVIVED' : 'caught  '}  ${name}`);
      if (foundBy !== undefined) console.log(`          ${foundBy.slice(0, 160)}`);
    }
  }
  return problems;
}

/** A run that fails for another reason, such as a text that is not in the source, finds nothing. */
function simulate(test: string, schedules: number, mutant: string) {
  const settings = { SIMULATION_MUTANT: mutant, SIMULATION_SCHEDULES: `${schedules}` };
  const env = { ...process.env, ...settings, NO_COLOR: '1' };
  const args = [...VITEST, `test/simulation/${test}.test.ts`];
  const { status, stdout, stderr } = spawnSync('npx', args, { env, encoding: 'utf8' });
  return { status, foundBy: /(seed \d+ .*)/.exec(stdout + stderr)?.[1] };
}
