import { expect, it } from 'vitest';
import { CustomInputReader } from '../../../../../src/protocol/responses/answers/custom-input.ts';

function read(json: string, pieceChars: number): readonly string[] {
  const reader = new CustomInputReader();
  const emitted: string[] = [];
  for (let at = 0; at < json.length; at += pieceChars) {
    emitted.push(reader.add(json.slice(at, at + pieceChars)));
  }
  emitted.push(reader.end());
  expect(reader.emitted).toBe(emitted.join(''));
  return emitted;
}

it.each([1, 2, 3, 5, 6, 7, 11, 100])(
  'no character is emitted in halves, be it written as escapes, in pieces of %i',
  (pieceChars) => {
    const emitted = read('{"input":"a\\ud83d\\ude00b😀\\u00e9\\ud83d\\ude00"}', pieceChars);
    expect(emitted.join('')).toBe('a😀b😀é😀');
    expect(emitted.filter((text) => /\p{Cs}/u.test(text))).toEqual([]);
  },
);

it('half a character of which the rest never comes is emitted at last', () => {
  expect(read('{"input":"a\\ud83d"}', 4).join('')).toBe('a\ud83d');
  expect(read('{"input":"a\\ud83db"}', 4).join('')).toBe('a\ud83db');
});

it('a long text may come in any number of pieces', () => {
  // Joining all that came for each of them would take minutes.
  const text = 'a\n'.repeat(500_000);
  expect(read(JSON.stringify({ input: text }), 2).join('')).toBe(text);
});
