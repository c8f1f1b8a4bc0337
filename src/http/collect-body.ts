import { Refusal } from '../protocol/refusals.ts';
import type { BodyBudget, BodyHolder } from './body-budget.ts';

/** Up to this, and from a known client, a body's whole room is set aside at once; else room follows what really came. */
const TRUSTED_LENGTH_BYTES_MAX = 1024 * 1024;
const FIRST_ROOM_BYTES = 16 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** One buffer out of many chunks, within the limit of one body and the budget of all. A class, like the exchange. */
export class BodyCollector implements BodyHolder {
  stranger: string | undefined;
  /** How many bytes came, kept or not. */
  receivedBytes = 0;
  readonly #announcedBytes: number;
  readonly #bodyBytesMax: number;
  readonly #budget: BodyBudget;
  #room = NO_BYTES;
  #length = 0;
  #refusal: Refusal | undefined;
  #isWanted = true;

  constructor(announcedBytes: number, bodyBytesMax: number, budget: BodyBudget) {
    this.#announcedBytes = announcedBytes;
    this.#bodyBytesMax = bodyBytesMax;
    this.#budget = budget;
    if (announcedBytes > bodyBytesMax) this.#refusal = bodyTooLarge(bodyBytesMax);
  }

  /** Copies a chunk, or counts it away when the body is refused or unwanted. */
  add(chunk: ArrayBuffer): void {
    this.receivedBytes += chunk.byteLength;
    if (this.#refusal !== undefined || !this.#isWanted) return;
    if (this.receivedBytes > this.#bodyBytesMax) {
      this.#refuse(bodyTooLarge(this.#bodyBytesMax));
      return;
    }
    if (!this.#makeRoom(this.#length + chunk.byteLength)) return;
    this.#room.set(new Uint8Array(chunk), this.#length);
    this.#length += chunk.byteLength;
  }

  /** Only its bytes, and nothing that is announced, can make room for it among those of other strangers. */
  countAgainst(stranger: string | undefined): void {
    this.stranger = stranger;
  }

  giveWay(): void {
    this.#refuse(tooManyLargeBodies());
  }

  /** The whole body, or why there is none. */
  finish(): Buffer | Refusal {
    if (this.#refusal !== undefined) return this.#refusal;
    // All of it is here and will be gone soon: no share is waited for with it.
    this.#budget.adopt(this);
    this.stranger = undefined;
    return this.#length === this.#room.length ? this.#room : this.#room.subarray(0, this.#length);
  }

  /** What follows is not wanted: the memory is given back, bytes are only counted. */
  discard(): void {
    this.#isWanted = false;
    this.#giveBack();
  }

  #giveBack(): void {
    if (this.#room.length > 0) this.#budget.giveBack(this, this.#room.length);
    this.#room = NO_BYTES;
    this.#length = 0;
  }

  #refuse(reason: Refusal): void {
    this.#refusal = reason;
    this.#giveBack();
  }

  #makeRoom(neededBytes: number): boolean {
    if (neededBytes <= this.#room.length) return true;
    const grownBytes = this.#growTo(neededBytes);
    if (!this.#budget.take(this, grownBytes - this.#room.length)) {
      this.#refuse(tooManyLargeBodies());
      return false;
    }
    const next = Buffer.allocUnsafe(grownBytes);
    if (this.#length > 0) this.#room.copy(next, 0, 0, this.#length);
    this.#room = next;
    return true;
  }

  #growTo(neededBytes: number): number {
    const announced = this.#announcedBytes;
    const isTrusted = this.stranger === undefined && this.#budget.hasPlenty;
    if (isTrusted && announced > 0 && announced <= TRUSTED_LENGTH_BYTES_MAX) return announced;
    const wanted = Math.max(neededBytes, this.#room.length * 2, FIRST_ROOM_BYTES);
    return Math.min(wanted, announced > 0 ? announced : this.#bodyBytesMax);
  }
}

function tooManyLargeBodies(): Refusal {
  return new Refusal(
    'out_of_memory_budget',
    'Too many large requests at once, try again shortly.',
    {
      headers: { 'retry-after': '1' },
    },
  );
}

function bodyTooLarge(bodyBytesMax: number): Refusal {
  return new Refusal(
    'body_too_large',
    `The request body is too large: at most ${bodyBytesMax} bytes are accepted.`,
  );
}
