import { expect, it } from 'vitest';
import { applyMutant, SOURCE_MUTANTS } from '../simulation/source-mutants.ts';
import { patchScripts } from '../support/patch-scripts.ts';
import { MUTANTS } from './mutants.ts';

const connection = { send: () => Promise.reject(new Error('nothing is sent')) };

it('every mutant of the scripts changes exactly one place of them, and has a name of its own', () => {
  // It throws for a text that the scripts do not have, or have twice.
  for (const mutant of MUTANTS) patchScripts(connection, [mutant]);
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

it('every mutant of the source changes exactly one place of it, and has a name of its own', () => {
  for (const mutant of SOURCE_MUTANTS) applyMutant(mutant);
  expect(new Set(SOURCE_MUTANTS.map(({ name }) => name)).size).toBe(SOURCE_MUTANTS.length);
});
