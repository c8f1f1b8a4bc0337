import { expect, it } from 'vitest';
import { joinParts, type PushedPart } from '../../../src/upstream/pushed-part.ts';

function partOf(contentBytes: number, unreportedBytes?: number): PushedPart {
  return { events: [], contentBytes, unreportedBytes, bytes: [] };
}

it.each([
  ['that reports usage, as it says', [partOf(9, 4)], 4],
  ['behind one that reports usage', [partOf(9, 4), partOf(10), partOf(100)], 114],
  ['before one that reports usage, not', [partOf(10), partOf(9, 4), partOf(100)], 104],
  ['between two that report usage, not', [partOf(9, 4), partOf(10), partOf(9, 0)], 0],
  ['where nothing reports usage, not', [partOf(10), partOf(100)], undefined],
])('what is said counts as unreported in a part %s', (_, parts, unreportedBytes) => {
  const contentBytes = parts.reduce((sum, part) => sum + part.contentBytes, 0);
  expect(joinParts(parts, undefined)).toMatchObject({ contentBytes, unreportedBytes });
});
