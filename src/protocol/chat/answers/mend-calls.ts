import { type Json, readObject } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import type { PlacedPiece } from './decode-calls.ts';

/**
 * Numbers the pieces of calls, and gives each call an id and a type. Upstreams that send whole
 * calls may leave these out or number all calls alike, and clients join what has the same number.
 * Returns the same choices if nothing is wrong with them.
 */
export function mendCalls(
  choices: readonly Json[],
  placed: readonly PlacedPiece[],
): readonly Json[] {
  const choice = choices.find(({ index }) => (index ?? 0) === 0);
  if (choice === undefined) return choices;
  const delta = readObject(choice, 'delta');
  const pieces: unknown = delta['tool_calls'];
  if (!Array.isArray(pieces) || pieces.length !== placed.length) return choices;
  const isRight = pieces.every((piece, i) => isInPlace(piece, placed[i]));
  if (isRight) return choices;
  const calls = pieces.map((piece, i) => putInPlace(piece, placed[i]));
  const mended = { ...choice, delta: { ...delta, tool_calls: calls } };
  return choices.map((each) => (each === choice ? mended : each));
}

function isInPlace(piece: unknown, place: PlacedPiece | undefined): boolean {
  if (!isObject(piece) || place === undefined || piece['index'] !== place.number) return false;
  return place.id === undefined || (piece['id'] === place.id && piece['type'] === 'function');
}

function putInPlace(piece: unknown, place: PlacedPiece | undefined): unknown {
  if (!isObject(piece) || place === undefined) return piece;
  const { number, id } = place;
  return { ...piece, index: number, ...(id !== undefined && { id, type: 'function' }) };
}
