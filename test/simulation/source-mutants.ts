import { readFileSync } from 'node:fs';
import { BOOKS_MUTANTS } from './books-mutants.ts';
import { SETTLING_MUTANTS } from './settling-mutants.ts';

/** A bug in the source that a simulation must find: a text of a file, replaced. */
export interface SourceMutant {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** The simulations, with the bugs that each must find and how many schedules it has for that. */
export const SIMULATIONS = [
  { test: 'settling', mutants: SETTLING_MUTANTS, schedules: 1_000 },
  { test: 'books', mutants: BOOKS_MUTANTS, schedules: 400 },
] as const;

export const SOURCE_MUTANTS: readonly SourceMutant[] = SIMULATIONS.flatMap(
  ({ mutants }) => mutants,
);

/** The source of its file with the bug. Throws unless the text to be replaced is there once. */
export function applyMutant({ file, find, replace }: SourceMutant): string {
  const source = readFileSync(file, 'utf8');
  if (source.split(find).length !== 2) throw new Error(`not once in ${file}: ${find}`);
  return source.replace(find, () => replace);
}
