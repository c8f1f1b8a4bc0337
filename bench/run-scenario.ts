/**
 * `npm run bench -- [NAME] [OPTIONS]` runs one scenario, or the whole comparison without a name.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseOptions } from './compare/parse-options.ts';
import { runComparison } from './compare/run-comparison.ts';
import type { Scenario } from './compare/scenario.ts';
import { COMPARISONS } from './compare/scenarios.ts';
import { selectScenarios } from './compare/select-scenarios.ts';

const WRONG_USAGE = 2;
const dir = join(import.meta.dirname, 'scenarios');
const programs = readdirSync(dir).flatMap((file) =>
  file.endsWith('.js') ? [file.slice(0, -'.js'.length)] : [],
);

function list(): void {
  const names = (title: string, lines: readonly string[]) =>
    `${title}\n\n  ${lines.join('\n  ')}\n`;
  const comparisons = COMPARISONS.map(({ name, title }) => `${name.padEnd(16)}${title}`);
  console.log('npm run bench -- [NAME] [OPTIONS]\n');
  console.log(names('The comparison, all of it when there is no name:', comparisons));
  console.log(names('Programs of their own:', programs));
  console.log('bench/README.md says what each shows.');
}

function readRequest(comparisons: readonly Scenario[], args: readonly string[]) {
  try {
    const options = parseOptions(args);
    return { options, scenarios: selectScenarios(comparisons, options) };
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    process.exitCode = WRONG_USAGE;
    return undefined;
  }
}

const [first, ...rest] = process.argv.slice(2);
const name = first?.startsWith('--') === true ? undefined : first;
const comparisons = COMPARISONS.filter((each) => name === undefined || each.name === name);

if (comparisons.length > 0) {
  const request = readRequest(comparisons, name === undefined ? process.argv.slice(2) : rest);
  if (request !== undefined) await runComparison(request.scenarios, request.options);
} else if (name !== undefined && programs.includes(name)) {
  await import(pathToFileURL(join(dir, `${name}.js`)).href);
} else {
  list();
  if (name !== 'list') process.exitCode = WRONG_USAGE;
}
