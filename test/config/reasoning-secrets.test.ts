import { expect, it } from 'vitest';
import { problemsOf } from './problems-of.ts';

it('a secret for thoughts that can be guessed is refused, and not told', () => {
  const message = 'must be text of 16 to 4096 visible ASCII characters, without spaces';
  expect(problemsOf('reasoning_secrets: [fifteen-letters]')).toEqual([
    `t.yaml:1: reasoning_secrets[0]: ${message}`,
  ]);
  expect(problemsOf('reasoning_secrets: [sixteen--letters]')).toEqual([]);
});
