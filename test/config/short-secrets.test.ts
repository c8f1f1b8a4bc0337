import { expect, it } from 'vitest';
import { problemsOf } from './problems-of.ts';

const message = 'must be text of 16 to 4096 visible ASCII characters, without spaces';

it('a secret for thoughts that can be guessed is refused, and not told', () => {
  expect(problemsOf('reasoning_secrets: [fifteen-letters]')).toEqual([
    `t.yaml:1: reasoning_secrets[0]: ${message}`,
  ]);
  expect(problemsOf('reasoning_secrets: [sixteen--letters]')).toEqual([]);
});

it('a secret for the names of end users that can be guessed is refused, and not told', () => {
  expect(problemsOf('limits: {end_users: {secret: fifteen-letters}}')).toEqual([
    `t.yaml:1: limits.end_users.secret: ${message}`,
  ]);
  expect(problemsOf('limits: {end_users: {secret: sixteen--letters}}')).toEqual([]);
});
