import { expect, it } from 'vitest';
import { applyMutant, SOURCE_MUTANTS } from '../simulation/source-mutants.ts';
import { patchScripts } from '../support/patch-scripts.ts';
import { MUTANTS } from './mutants.ts';
import { isMachineTrouble } from './support/is-machine-trouble.ts';

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

it.each([
  [true, 'Error: waited in vain until clients are let in'],
  [true, 'Error: workers ended with 1'],
  [true, 'Error: Test timed out in 60000ms.'],
  [true, 'Error: connect ECONNREFUSED 127.0.0.1:6379'],
  [false, 'Error: waited in vain until the messages have come'],
  [false, 'ReplyError: ERR user_script:12: attempt to compare nil with number'],
  [false, 'AssertionError: expected 1 to be 2\n  waitUntil timed out'],
])('a mutant is not caught (%s) by a machine in trouble: %s', (isTrouble, message) => {
  expect(isMachineTrouble(message)).toBe(isTrouble);
});
