import fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeAt } from '../../src/lib/bytes/code-at.ts';

it('the code of a character is what the text itself says, whatever the text was made of', () => {
  const texts = fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), fc.nat(40));
  fc.assert(
    fc.property(texts, ([first, second, index]) => {
      for (const text of [first, `${first}${second}`, second.slice(1), JSON.stringify(first)]) {
        expect(codeAt(text, index)).toEqual(text.charCodeAt(index));
      }
    }),
  );
});
