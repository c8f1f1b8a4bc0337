import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextCounter } from '../../../../src/protocol/json/text-counter.ts';

const NAMES = ['choices', 'content', 'text', 'input', 'logprobs', 'of_tomorrow'];

function count(pieces: readonly Uint8Array[]): number {
  const counter = new TextCounter('choices');
  for (const piece of pieces) counter.add(piece);
  return counter.bytes;
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(JSON.stringify(value)) - 2 : 0;
}

/** What a parser finds. */
function find(value: unknown, isSaid: boolean, isInput: boolean): number {
  if (typeof value !== 'object' || value === null) return isSaid || isInput ? lengthOf(value) : 0;
  return Object.entries(value)
    .map(([name, inner]) => {
      const isText = name === 'content' || name === 'text';
      return find(inner, isText, isInput || name === 'input');
    })
    .reduce((sum, bytes) => sum + bytes, 0);
}

it('counts the texts that a parser finds, wherever the object is cut and however it is written', () => {
  const { tree } = fc.letrec<{ tree: unknown; object: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.integer(),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom(...NAMES), tie('tree')),
  }));
  const objects = fc.dictionary(fc.constantFrom(...NAMES), tree);
  const indents = fc.constantFrom(undefined, 1, '\t');
  fc.assert(
    fc.property(objects, indents, (object, indent) => {
      const bytes = Buffer.from(JSON.stringify(object, null, indent));
      const expected = find(object['choices'], false, false);
      expect(count([bytes])).toBe(expected);
      expect(count(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toBe(expected);
    }),
    { numRuns: 2_000, interruptAfterTimeLimit: 3_000 },
  );
});

it('counts texts in lists under the name of the list, and not what logprobs repeat', () => {
  const logprobs = { content: [{ token: 'ab', top_logprobs: [{ token: 'cd' }] }] };
  const choices = [{ content: ['ab', 'c'], logprobs }, { input: { a: ['d', 1, { b: 'é' }] } }];
  expect(count([Buffer.from(JSON.stringify({ text: 'No', choices, input: 'No' }))])).toBe(6);
});
