import type { AnswerPart, Closing, InferenceEvent } from '../protocol/inference.ts';

/** A part as it comes from a socket. */
export interface PushedPart {
  readonly events: readonly InferenceEvent[];
  readonly contentBytes: number;
  /** `undefined` where the client reads another form. */
  readonly bytes: readonly Uint8Array[] | undefined;
  /** What follows the bytes; owns what it writes. */
  readonly closing?: Closing | undefined;
}

/** The beginning of an event is nothing that anybody could take, however long it is. */
export function saysAnything({ events, bytes }: PushedPart): boolean {
  return events.length > 0 || (bytes !== undefined && bytes.length > 0);
}

/** One that outlives the memory into which the socket reads. */
export function keepPart({ events, contentBytes, bytes, closing }: PushedPart): PushedPart {
  return { events, contentBytes, bytes: bytes?.map((piece) => Buffer.from(piece)), closing };
}

/** All of them as one. */
export function joinParts(parts: readonly PushedPart[], isLast: true | undefined): AnswerPart {
  const [first, second] = parts;
  if (first !== undefined && second === undefined) {
    const { events, contentBytes, bytes, closing } = first;
    return { events, contentBytes, bytes: bytes && joinBytes(bytes), closing, isLast };
  }
  const events: InferenceEvent[] = [];
  let pieces: Uint8Array[] | undefined;
  let contentBytes = 0;
  for (const part of parts) {
    contentBytes += part.contentBytes;
    for (const event of part.events) events.push(event);
    if (part.bytes === undefined) continue;
    pieces ??= [];
    for (const piece of part.bytes) pieces.push(piece);
  }
  const closing = parts.at(-1)?.closing;
  return { events, contentBytes, bytes: pieces && joinBytes(pieces), closing, isLast };
}

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}
