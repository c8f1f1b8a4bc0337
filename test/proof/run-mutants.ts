import { spawnSync } from 'node:child_process';
import { runSourceMutants } from '../simulation/run-source-mutants.ts';
import { SOURCE_MUTANTS } from '../simulation/source-mutants.ts';
import type { Patch } from '../support/patch-scripts.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import type { Mutant } from './mutant.ts';
import { MUTANT_GROUPS } from './mutants.ts';
import { isMachineTrouble } from './support/is-machine-trouble.ts';
import type { ProfileName } from './support/profiles.ts';
import { runProof } from './support/run-proof.ts';

/**
 * `npm run test:mutants`: the simulations must find every mutant of the settling machinery and of
 * the books, the tests every mutant of the scripts, and neither anything in the code as it is. With
 * names of groups it tries those of the scripts alone.
 */
const SECONDS = 2;
const SEED = Number(process.env['PROOF_SEED'] ?? Date.now() % 1_000_000);
const TABLES = [
  'vitest',
  'run',
  '--config',
  'test/vitest.config.ts',
  '--reporter',
  'json',
  '--bail=1',
];

async function findByProof(profile: ProfileName, patches: readonly Patch[]) {
  const { violations } = await runProof({ profile, seconds: SECONDS, seed: SEED, patches });
  const [first] = violations;
  return first === undefined ? undefined : `${profile} profile, ${first.check}: ${first.text}`;
}

interface JsonReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * The tables of the scripts and the model of lists, run against the mutant of this name. Throws if
 * they could not run.
 */
function findByTables(mutant: string): string | undefined {
  const env = { ...process.env, SCRIPT_MUTANT: mutant };
  const options = { env, encoding: 'utf8', maxBuffer: 1e8 } as const;
  const { status, stdout } = spawnSync(
    'npx',
    [...TABLES, 'test/quota/scripts/', 'test/quota/lists/'],
    options,
  );
  if (status === 0) return undefined;
  const report = JSON.parse(stdout.slice(stdout.indexOf('{"'))) as JsonReport;
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.find((result) => result.status === 'failed');
  const [why = ''] = failed?.failureMessages ?? [];
  if (failed !== undefined && !isMachineTrouble(why)) return `table: ${failed.fullName}`;
  const messages = report.testResults.map(({ message }) => message);
  throw new Error(`the tables could not run: ${failed?.fullName} ${why} ${messages.join(' ')}`);
}

const PROFILES: readonly ProfileName[] = ['money', 'rate', 'lists'];
/** The other clients count in no list of limits. */
const PROFILES_OF_GROUPS: Readonly<Record<string, readonly ProfileName[]>> = { lists: ['lists'] };

async function find(
  mutant: string,
  patches: readonly Patch[],
  profiles = PROFILES,
): Promise<string | undefined> {
  let trouble: unknown;
  for (const profile of profiles) {
    try {
      const found = await findByProof(profile, patches);
      if (found !== undefined) return found;
    } catch (error) {
      trouble = error;
    }
  }
  const found = findByTables(mutant);
  if (found === undefined && trouble !== undefined) throw trouble;
  return found;
}

/** A run that could not end says nothing of the mutant. */
async function tryMutant(mutant: Mutant, profiles?: readonly ProfileName[]) {
  try {
    const why = await find(mutant.name, [mutant], profiles);
    return { outcome: why === undefined ? 'SURVIVED' : 'caught  ', why };
  } catch (error) {
    return { outcome: 'ERROR   ', why: String(error) };
  }
}

const groups = process.argv.slice(2);
const unknown = groups.filter((name) => MUTANT_GROUPS[name] === undefined);
if (unknown.length > 0) {
  throw new Error(`no such group: ${unknown}; there are ${Object.keys(MUTANT_GROUPS)}`);
}
const mutants = Object.entries(MUTANT_GROUPS).flatMap(([group, all]) =>
  groups.length === 0 || groups.includes(group)
    ? all.map((mutant) => ({ mutant, profiles: PROFILES_OF_GROUPS[group] }))
    : [],
);
const sourceCount = groups.length === 0 ? SOURCE_MUTANTS.length : 0;
const problems = groups.length === 0 ? runSourceMutants() : [];
console.log(`PROOF_SEED=${SEED}`);
const found = await find('', []);
console.log(found === undefined ? 'ok        the scripts as they are' : `PROBLEM   ${found}`);
if (found !== undefined) problems.push('the scripts as they are');
for (const { mutant, profiles } of mutants) {
  const { outcome, why } = await tryMutant(mutant, profiles);
  if (outcome !== 'caught  ') problems.push(mutant.name);
  console.log(`${outcome}  ${mutant.name}`);
  if (why !== undefined) console.log(`          ${why.slice(0, 160)}`);
}
await stopRedisServers();
console.log(`${mutants.length + sourceCount} mutants, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
