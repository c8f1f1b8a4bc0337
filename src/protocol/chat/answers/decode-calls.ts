import type { BlockQueue, QueuedBlock } from '../../answers/block-queue.ts';
import type { InferenceEvent } from '../../inference.ts';
import {
  brokenAnswer,
  type Json,
  oversizedAnswer,
  readObject,
  readText,
} from '../../json/upstream-json.ts';
import { mendToolId } from '../../native/requests/mend-messages.ts';
import { isObject } from '../../schema.ts';

export const CALLS_MAX = 1_024;

interface Call {
  readonly index: unknown;
  readonly id: string | undefined;
  readonly block: QueuedBlock;
}

interface Piece {
  readonly index: unknown;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly json: string;
}

/** Which call a piece belongs to. */
export interface PlacedPiece {
  /** The number of the call in this answer. */
  readonly number: number;
  /** Set in a piece that begins a call. */
  readonly id: string | undefined;
}

/**
 * Reads tool calls. Their pieces are distinguished by index or, without one, by id. In a whole
 * answer each piece with a name is a call, also where several have the same id.
 */
export function createCallDecoder(blocks: BlockQueue, isWhole: boolean): CallDecoder {
  return new CallDecoder(blocks, isWhole);
}

export type { CallDecoder };

class CallDecoder {
  readonly #blocks: BlockQueue;
  readonly #isWhole: boolean;
  readonly #calls: Call[] = [];
  #placed: PlacedPiece[] = [];

  constructor(blocks: BlockQueue, isWhole: boolean) {
    this.#blocks = blocks;
    this.#isWhole = isWhole;
  }

  decode(pieces: unknown, answerId: string): InferenceEvent[] {
    if (!Array.isArray(pieces)) return [];
    this.#placed = [];
    return pieces.flatMap((piece) =>
      isObject(piece) ? this.#decodePiece(readPiece(piece), answerId) : [],
    );
  }

  /** The places of the pieces that were decoded last, unless some were no pieces at all. */
  get placed(): readonly PlacedPiece[] {
    return this.#placed;
  }

  hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  #decodePiece(piece: Piece, answerId: string): InferenceEvent[] {
    const { index, id, name, json } = piece;
    const calls = this.#calls;
    const known = this.#findCall(index, id);
    const isNew = known === undefined || (this.#isWhole && name !== undefined);
    if (!isNew && !isNext(piece, known)) {
      this.#placed.push({ number: calls.indexOf(known), id: undefined });
      return this.#blocks.add(known.block, json);
    }

    if (name === undefined) throw brokenAnswer('a tool has no name');
    if (calls.length >= CALLS_MAX) throw oversizedAnswer('it calls too many tools');
    const ownId = id ?? `call_${answerId}_${calls.length}`;
    const toolId = mendToolId(ownId);
    this.#placed.push({ number: calls.length, id: ownId });
    const [block, events] = this.#blocks.append({ type: 'tool_use', id: toolId, name });
    calls.push({ index, id, block });
    return [...events, ...this.#blocks.add(block, json)];
  }

  #findCall(index: unknown, id: string | undefined): Call | undefined {
    const calls = this.#calls;
    if (index !== undefined) return calls.findLast((call) => call.index === index);
    return id === undefined ? calls.at(-1) : calls.findLast((call) => call.id === id);
  }
}

function readPiece(fields: Json): Piece {
  const called = readObject(fields, 'function');
  return {
    index: fields['index'],
    id: readText(fields, 'id'),
    name: readText(called, 'name'),
    json: readArguments(called),
  };
}

/** Some upstreams send an object instead of its JSON. */
export function readArguments(called: Json): string {
  const json = called['arguments'] ?? '';
  if (typeof json === 'string') return json;
  if (isObject(json)) return JSON.stringify(json);
  throw brokenAnswer("a tool's input is not a text");
}

/**
 * Whether a piece begins a new call. Upstreams that send whole calls may give all of them the same
 * index or none, and may leave out some ids or make them from names. Others repeat id and name in
 * each piece of a call.
 */
function isNext({ index, id, name, json }: Piece, known: Call): boolean {
  if (name === undefined) return false;
  if (id === undefined ? index === undefined : id !== known.id) return true;
  return json.trim() !== '' && known.block.json?.isComplete() === true;
}
