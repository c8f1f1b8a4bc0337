import { inputOf } from '../protocol/answers/raise-usage.ts';
import type { AnswerPart, Closing, InferenceEvent } from '../protocol/inference.ts';

/** A part as it comes from a socket. */
export interface PushedPart {
  readonly events: readonly InferenceEvent[];
  readonly contentBytes: number;
  /** See `AnswerPart`. */
  readonly unreportedBytes?: number | undefined;
  /** `undefined` if the client reads another format. */
  readonly bytes: readonly Uint8Array[] | undefined;
  /** Writes what follows the bytes, into memory of its own. */
  readonly closing?: Closing | undefined;
  /** See `AnswerPart`. */
  readonly nextNumber?: number | undefined;
}

/**
 * Stands for events that say nothing, such as pings and comments, which are not re-encoded in
 * another format. They are complete: stalling in the middle of an event shows no life.
 */
export const SIGN_OF_LIFE: PushedPart = Object.freeze({
  events: [],
  contentBytes: 0,
  bytes: undefined,
});

/** The beginning of an event, however long, is nothing that a client could take yet. */
export function saysAnything({ events, bytes }: PushedPart): boolean {
  return events.length > 0 || (bytes !== undefined && bytes.length > 0);
}

/**
 * Whether a part says only that an answer begins. Nobody could act on it. A beginning that
 * reports usage says more: it decides what a client that leaves at this moment is charged.
 */
export function isMereBeginning({ events, contentBytes, closing }: PushedPart): boolean {
  return contentBytes === 0 && closing === undefined && events.every(isMereStart);
}

function isMereStart(event: InferenceEvent): boolean {
  return event.type === 'start' && inputOf(event.usage) === 0;
}

/**
 * A part that outlives the memory into which the socket reads. It is in one piece, so that it need
 * not be copied again.
 */
export function keepPart(part: PushedPart): PushedPart {
  const { events, contentBytes, unreportedBytes, bytes, closing, nextNumber } = part;
  const kept = bytes === undefined || bytes.length === 0 ? bytes : [Buffer.concat(bytes)];
  return { events, contentBytes, unreportedBytes, bytes: kept, closing, nextNumber };
}

/** Joins all parts into one. */
export function joinParts(parts: readonly PushedPart[], isLast: true | undefined): AnswerPart {
  const [first, second] = parts;
  if (first !== undefined && second === undefined) return toAnswerPart(first, isLast);
  const events: InferenceEvent[] = [];
  let bytes: Uint8Array[] | undefined;
  let contentBytes = 0;
  let unreportedBytes: number | undefined;
  for (const part of parts) {
    contentBytes += part.contentBytes;
    if (part.unreportedBytes !== undefined) unreportedBytes = part.unreportedBytes;
    else if (unreportedBytes !== undefined) unreportedBytes += part.contentBytes;
    for (const event of part.events) events.push(event);
    if (part.bytes === undefined) continue;
    bytes ??= [];
    for (const piece of part.bytes) bytes.push(piece);
  }
  const { closing, nextNumber } = parts.at(-1) ?? {};
  return toAnswerPart(
    { events, contentBytes, unreportedBytes, bytes, closing, nextNumber },
    isLast,
  );
}

function toAnswerPart(part: PushedPart, isLast: true | undefined): AnswerPart {
  const { events, contentBytes, unreportedBytes, bytes: pieces, closing, nextNumber } = part;
  const bytes = closing === undefined && pieces !== undefined ? joinBytes(pieces) : undefined;
  const closingAll = closing && closeBehind(pieces, closing);
  return { events, contentBytes, unreportedBytes, bytes, closing: closingAll, nextNumber, isLast };
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
