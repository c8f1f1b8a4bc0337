import { expect, it } from 'vitest';
import { problemsOf } from './problems-of.ts';

it('patterns of two models that match the same names and say no more than each other are a problem', () => {
  const modelsOf = (...aliases: readonly string[]) =>
    aliases.map(
      (list, index) =>
        `  - {id: m${index}, aliases: ${list}, max_output_tokens: 1, price: {input: 1, output: 2}}`,
    );
  const told = (...aliases: readonly string[]) =>
    problemsOf(['models:', ...modelsOf(...aliases)].join('\n'));
  expect(told('[a*, ab*]', '[x, "*b"]')).toEqual([
    't.yaml:3: models[1].aliases[1]: matches names that "a*" of another model also matches, and neither is longer',
  ]);
  expect(told('[a*]', '[a*]')).toEqual([
    't.yaml:3: models[1].aliases[0]: "a*" is already used as an id or alias',
  ]);
  expect(told('[a-*, a-*-b]', '[b-*, ab-*, a-x]')).toEqual([]);
  const many = Array.from({ length: 9 }, (_, m) =>
    JSON.stringify(Array.from({ length: 32 }, (_, n) => `${m}-${n}-*`)),
  );
  expect(told(...many)).toEqual(['t.yaml:1: models: must have at most 256 aliases with a *']);
});

it('a pattern is an alias and no id, and stands once', () => {
  const told = (names: string) =>
    problemsOf(`models: [{${names}, max_output_tokens: 1, price: {input: 1, output: 2}}]`).join();
  expect(told('id: m, aliases: [x*, x*]')).toContain(
    'aliases[1]: "x*" is already used as an id or alias',
  );
  expect(told('id: m, aliases: [x y]')).toContain('aliases[0]: must be a name of at most 128');
  expect(told('id: m*')).toContain('id: must be a name of at most 128 letters');
});
