import { Refusal } from '../protocol/refusals.ts';
import type { RequestHead } from './read-request-head.ts';

/** Memory that all bodies of one worker may hold together. */
export interface BodyBudget {
  heldBytes: number;
  readonly heldBytesMax: number;
}

/** Below this a body's whole room is set aside at once; above it room follows what really came. */
const TRUSTED_LENGTH_BYTES_MAX = 1024 * 1024;
const FIRST_ROOM_BYTES = 16 * 1024;

export interface BodyCollector {
  /** Copies a chunk, or counts it away when the body is refused or unwanted. */
  add(chunk: ArrayBuffer): void;
  /** The whole body, or why there is none. */
  finish(): Buffer | Refusal;
  /** What follows is not wanted: the memory is given back, bytes are only counted. */
  discard(): void;
  /** How many bytes came, kept or not. */
  readonly receivedBytes: number;
}

/** One buffer out of many chunks, within the limit of one body and the budget of all. */
export function collectBody(
  head: RequestHead,
  bodyBytesMax: number,
  budget: BodyBudget,
): BodyCollector {
  let room = Buffer.alloc(0);
  let length = 0;
  let receivedBytes = 0;
  let refusal: Refusal | undefined;
  let isWanted = true;

  const giveBack = () => {
    budget.heldBytes -= room.length;
    room = Buffer.alloc(0);
    length = 0;
  };
  const refuse = (reason: Refusal) => {
    refusal = reason;
    giveBack();
  };
  const makeRoom = (neededBytes: number) => {
    if (neededBytes <= room.length) return;
    const announced = head.contentLength ?? 0;
    const grown =
      announced > 0 && announced <= TRUSTED_LENGTH_BYTES_MAX
        ? announced
        : Math.min(
            Math.max(neededBytes, room.length * 2, FIRST_ROOM_BYTES),
            announced > 0 ? announced : bodyBytesMax,
          );
    if (budget.heldBytes + grown > budget.heldBytesMax) {
      refuse(
        new Refusal('out_of_memory_budget', 'Too many large requests at once, try again shortly.', {
          headers: { 'retry-after': '1' },
        }),
      );
      return;
    }
    const next = Buffer.allocUnsafe(grown);
    room.copy(next, 0, 0, length);
    budget.heldBytes += next.length - room.length;
    room = next;
  };

  if ((head.contentLength ?? 0) > bodyBytesMax) refusal = bodyTooLarge(bodyBytesMax);

  return {
    get receivedBytes() {
      return receivedBytes;
    },
    add(chunk) {
      receivedBytes += chunk.byteLength;
      if (refusal !== undefined || !isWanted) return;
      if (receivedBytes > bodyBytesMax) {
        refuse(bodyTooLarge(bodyBytesMax));
        return;
      }
      makeRoom(length + chunk.byteLength);
      if (refusal !== undefined) return;
      room.set(new Uint8Array(chunk), length);
      length += chunk.byteLength;
    },
    finish: () => refusal ?? room.subarray(0, length),
    discard() {
      isWanted = false;
      giveBack();
    },
  };
}

function bodyTooLarge(bodyBytesMax: number): Refusal {
  return new Refusal(
    'body_too_large',
    `The request body is too large: at most ${bodyBytesMax} bytes are accepted.`,
  );
}
