import { spawnSync } from 'node:child_process';
import { SETTLING_MUTANTS } from './settling-mutants.ts';

const SCHEDULES = '1000';
const VITEST = ['vitest', 'run', '--config', 'test/simulation/vitest.config.ts'];

/**
 * The simulation must find every mutant of the settling machinery, and nothing in the source as it
 * is. Returns the names of those for which that is not so.
 */
export function runSettlingMutants(): string[] {
  const problems: string[] = [];
  const asIs = simulate('');
  if (asIs.status !== 0) problems.push('the settling as it is');
  console.log(`${asIs.status === 0 ? 'ok      ' : 'PROBLEM '}  the settling as it is`);
  for (const { name } of SETTLING_MUTANTS) {
    const { foundBy } = simulate(name);
    if (foundBy === undefined) problems.push(name);
    console.log(`${foundBy === undefined ? 'SURVIVED' : 'caught  '}  ${name}`);
    if (foundBy !== undefined) console.log(`          ${foundBy.slice(0, 160)}`);
  }
  return problems;
}

/** A run that fails for another reason, such as a text that is not in the source, finds nothing. */
function simulate(mutant: string) {
  const settings = { SIMULATION_MUTANT: mutant, SIMULATION_SCHEDULES: SCHEDULES, NO_COLOR: '1' };
  const env = { ...process.env, ...settings };
  const { status, stdout, stderr } = spawnSync('npx', VITEST, { env, encoding: 'utf8' });
  return { status, foundBy: /(seed \d+ .*)/.exec(stdout + stderr)?.[1] };
}
