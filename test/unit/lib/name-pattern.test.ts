import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canBothMatch, createNameMatcher } from '../../../src/lib/name-pattern.ts';

const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 7 });
const pattern = fc
  .string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 5 })
  .filter((text) => text.includes('*'));

/**
 * All names of the letters a and b up to this length, which is enough for two patterns of 5
 * characters.
 */
function listNames(length: number): string[] {
  const shorter = length === 0 ? [] : listNames(length - 1);
  const longest = shorter.filter((name) => name.length === length - 1);
  return length === 0 ? [''] : [...shorter, ...longest.flatMap((name) => [`${name}a`, `${name}b`])];
}

const NAMES = listNames(10);

it('a star in a pattern stands for any run of characters, none included', () => {
  const matches = (text: string, name: string) => createNameMatcher(text)(name);
  expect(matches('claude-opus-*', 'claude-opus-5-5')).toBe(true);
  expect(matches('claude-opus-*', 'claude-opus-')).toBe(true);
  expect(matches('claude-opus-*', 'claude-opus')).toBe(false);
  expect(matches('claude-opus-*', 'my-claude-opus-5')).toBe(false);
  expect(matches('aa*aa', 'aaa')).toBe(false);
  expect(matches('a.c*', 'abc')).toBe(false);
  fc.assert(
    fc.property(pattern, letters, (text, name) => {
      const expression = new RegExp(`^${text.replaceAll('*', '.*')}$`);
      expect(matches(text, name)).toBe(expression.test(name));
    }),
  );
});

it('two patterns can both match a name just where there is one', () => {
  fc.assert(
    fc.property(pattern, pattern, (one, other) => {
      const isOne = createNameMatcher(one);
      const isOther = createNameMatcher(other);
      const isThere = NAMES.some((name) => isOne(name) && isOther(name));
      expect(canBothMatch(one, other)).toBe(isThere);
    }),
    { numRuns: 300 },
  );
});
