import type { AnswerPart, Closing, InferenceEvent } from '../protocol/inference.ts';

/** A part as it comes from a socket. */
export interface PushedPart {
  readonly events: readonly InferenceEvent[];
  readonly contentBytes: number;
  /** `undefined` if the client reads another format. */
  readonly bytes: readonly Uint8Array[] | undefined;
  /** Writes what follows the bytes, into memory of its own. */
  readonly closing?: Closing | undefined;
}

/** The beginning of an event, however long, is nothing that a client could take yet. */
export function saysAnything({ events, bytes }: PushedPart): boolean {
  return events.length > 0 || (bytes !== undefined && bytes.length > 0);
}

/**
 * A part that outlives the memory into which the socket reads. It is in one piece, so that it need
 * not be copied again.
 */
export function keepPart({ events, contentBytes, bytes, closing }: PushedPart): PushedPart {
  const kept = bytes === undefined || bytes.length === 0 ? bytes : [Buffer.concat(bytes)];
  return { events, contentBytes, bytes: kept, closing };
}

/** Joins all parts into one. */
export function joinParts(parts: readonly PushedPart[], isLast: true | undefined): AnswerPart {
  const [first, second] = parts;
  if (first !== undefined && second === undefined) return toAnswerPart(first, isLast);
  const events: InferenceEvent[] = [];
  let bytes: Uint8Array[] | undefined;
  let contentBytes = 0;
  for (const part of parts) {
    contentBytes += part.contentBytes;
    for (const event of part.events) events.push(event);
    if (part.bytes === undefined) continue;
    bytes ??= [];
    for (const piece of part.bytes) bytes.push(piece);
  }
  return toAnswerPart({ events, contentBytes, bytes, closing: parts.at(-1)?.closing }, isLast);
}

function toAnswerPart(part: PushedPart, isLast: true | undefined): AnswerPart {
  const { events, contentBytes, bytes: pieces, closing } = part;
  const bytes = closing === undefined && pieces !== undefined ? joinBytes(pieces) : undefined;
  return { events, contentBytes, bytes, closing: closing && closeBehind(pieces, closing), isLast };
}

/** Copies the bytes once, when all of them are there. */
function closeBehind(pieces: PushedPart['bytes'], closing: Closing): Closing {
  if (pieces === undefined || pieces.length === 0) return closing;
  return (usage) => Buffer.concat([...pieces, closing(usage)]);
}

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}
