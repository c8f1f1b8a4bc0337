import { expect, it } from 'vitest';
import { CustomInputReader } from '../../../../../src/protocol/responses/answers/custom-input.ts';

function read(json: string, pieceChars: number): readonly string[] {
  const reader = new CustomInputReader();
  const told: string[] = [];
  for (let at = 0; at < json.length; at += pieceChars) {
    told.push(reader.add(json.slice(at, at + pieceChars)));
  }
  told.push(reader.end());
  expect(reader.told).toBe(told.join(''));
  return told;
}

it('a long text may come in any number of pieces', () => {
  // Joining all that came for each of them would take minutes.
  const text = 'a\n'.repeat(500_000);
  expect(read(JSON.stringify({ input: text }), 2).join('')).toBe(text);
});
