import { spawnSync } from 'node:child_process';
import { runSettlingMutants } from '../simulation/run-settling-mutants.ts';
import { SETTLING_MUTANTS } from '../simulation/settling-mutants.ts';
import type { Patch } from '../support/patch-scripts.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import { MUTANTS } from './mutants.ts';
import type { ProfileName } from './support/profiles.ts';
import { runProof } from './support/run-proof.ts';

/**
 * `npm run test:mutants`: the simulation must find every mutant of the settling machinery, the tests
 * every mutant of the scripts, and neither anything in the code as it is.
 */
const SECONDS = 2;
const SEED = Number(process.env['PROOF_SEED'] ?? Date.now() % 1_000_000);
const TABLES = ['vitest', 'run', '--config', 'test/vitest.config.ts', '--reporter', 'json'];

async function findByProof(profile: ProfileName, patches: readonly Patch[]) {
  const { violations } = await runProof({ profile, seconds: SECONDS, seed: SEED, patches });
  const [first] = violations;
  return first === undefined ? undefined : `${profile} profile, ${first.check}: ${first.text}`;
}

interface JsonReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** The tables of `test/quota/scripts`, run against the mutant of this name. */
function findByTables(mutant: string): string | undefined {
  const env = { ...process.env, SCRIPT_MUTANT: mutant };
  const options = { env, encoding: 'utf8', maxBuffer: 1e8 } as const;
  const { status, stdout } = spawnSync('npx', [...TABLES, 'test/quota/scripts/'], options);
  if (status === 0) return undefined;
  const report = JSON.parse(stdout.slice(stdout.indexOf('{"'))) as JsonReport;
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.find((result) => result.status === 'failed');
  return `table: ${failed?.fullName ?? report.testResults.find(({ message }) => message)?.message}`;
}

async function find(mutant: string, patches: readonly Patch[]): Promise<string | undefined> {
  return (
    (await findByProof('money', patches)) ??
    (await findByProof('rate', patches)) ??
    findByTables(mutant)
  );
}

const problems = runSettlingMutants();
console.log(`PROOF_SEED=${SEED}`);
const found = await find('', []);
console.log(found === undefined ? 'ok        the scripts as they are' : `PROBLEM   ${found}`);
if (found !== undefined) problems.push('the scripts as they are');
for (const mutant of MUTANTS) {
  const foundBy = await find(mutant.name, [mutant]);
  if (foundBy === undefined) problems.push(mutant.name);
  console.log(`${foundBy === undefined ? 'SURVIVED' : 'caught  '}  ${mutant.name}`);
  if (foundBy !== undefined) console.log(`          ${foundBy.slice(0, 160)}`);
}
await stopRedisServers();
console.log(`${MUTANTS.length + SETTLING_MUTANTS.length} mutants, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
