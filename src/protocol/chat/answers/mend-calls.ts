import { type Json, readObject } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import { type PlacedPiece, readArguments } from './decode-calls.ts';

/** Repairs the calls of one stream, for clients that join the pieces with the same number. */
export function createCallMender(): CallMender {
  return new CallMender();
}

class CallMender {
  /** The numbers of the calls that have no input yet. */
  readonly #withoutInput = new Set<number>();

  /**
   * Numbers the pieces of calls, gives each call an id and a type, and writes inputs as texts.
   * Upstreams that send whole calls may leave out number and id, or number all calls alike. Returns
   * the same choices if nothing is wrong with them.
   */
  mend(choices: readonly Json[], placed: readonly PlacedPiece[]): readonly Json[] {
    const choice = choices.find(({ index }) => (index ?? 0) === 0);
    if (choice === undefined) return choices;
    const delta = readObject(choice, 'delta');
    const pieces: unknown = delta['tool_calls'];
    if (!Array.isArray(pieces) || pieces.length !== placed.length) return choices;
    for (const [i, piece] of pieces.entries()) this.#note(piece, placed[i]);
    const isRight = pieces.every((piece, i) => isInPlace(piece, placed[i]));
    if (isRight) return choices;
    const calls = pieces.map((piece, i) => putInPlace(piece, placed[i]));
    const mended = { ...choice, delta: { ...delta, tool_calls: calls } };
    return choices.map((each) => (each === choice ? mended : each));
  }

  /**
   * The last pieces of the calls that got no input: clients parse it as JSON, and an empty text
   * is not JSON. Before the end of the answer, their input may still come after other calls.
   */
  end(): readonly Json[] {
    return [...this.#withoutInput].map((index) => ({ index, function: { arguments: '{}' } }));
  }

  #note(piece: unknown, place: PlacedPiece | undefined): void {
    if (!isObject(piece) || place === undefined) return;
    const { number, id } = place;
    if (id !== undefined) this.#withoutInput.add(number);
    const json = readArguments(readObject(piece, 'function'));
    if (json.trim() !== '') this.#withoutInput.delete(number);
  }
}

function isInPlace(piece: unknown, place: PlacedPiece | undefined): boolean {
  if (!isObject(piece) || place === undefined || piece['index'] !== place.number) return false;
  if (isObject(readObject(piece, 'function')['arguments'])) return false;
  return place.id === undefined || (piece['id'] === place.id && piece['type'] === 'function');
}

function putInPlace(piece: unknown, place: PlacedPiece | undefined): unknown {
  if (!isObject(piece) || place === undefined) return piece;
  const { number, id } = place;
  const called = readObject(piece, 'function');
  return {
    ...piece,
    index: number,
    ...(id !== undefined && { id, type: 'function' }),
    function: { ...called, arguments: readArguments(called) },
  };
}
