import { Refusal } from '../protocol/refusals.ts';
import type { BodyBudget, BodyHolder, BodyOwner } from './body-budget.ts';

/**
 * For a known client, memory for a body up to this length is reserved at once. Otherwise the buffer
 * grows with the bytes that have arrived.
 */
const TRUSTED_LENGTH_BYTES_MAX = 1024 * 1024;
const FIRST_ROOM_BYTES = 16 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** Joins many chunks into one buffer, within the limit of one body and the budget of all bodies. */
export class BodyCollector implements BodyHolder {
  stranger: string | undefined;
  customer: string | undefined;
  /** How many bytes have arrived, kept or not. */
  receivedBytes = 0;
  readonly #announcedBytes: number;
  readonly #bodyBytesMax: number;
  readonly #budget: BodyBudget;
  #room = NO_BYTES;
  #length = 0;
  #refusal: Refusal | undefined;
  #isWanted = true;
  #isComplete = false;

  constructor(announcedBytes: number, bodyBytesMax: number, budget: BodyBudget) {
    this.#announcedBytes = announcedBytes;
    this.#bodyBytesMax = bodyBytesMax;
    this.#budget = budget;
    if (announcedBytes > bodyBytesMax) this.#refusal = bodyTooLarge(bodyBytesMax);
  }

  /** Copies a chunk. If the body is refused or unwanted, only counts its bytes. */
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

  /**
   * Counts the body against its owner. Only bytes that arrived push out bodies of other strangers,
   * never an announced length. Call this before bytes arrive, and again if the owner of a complete
   * body becomes known: throws if that is more than the owner may have.
   */
  countAgainst({ accountId, origin }: BodyOwner): void {
    if (this.#isComplete) {
      if (accountId !== undefined) this.#assignTo(accountId);
      return;
    }
    this.stranger = accountId === undefined ? origin.address : undefined;
    // What is given back has to be what this customer has taken.
    if (this.#room.length === 0) this.customer = accountId;
  }

  giveWay(): void {
    this.#refuse(tooManyLargeBodies());
  }

  /** The whole body, or the reason why there is none. */
  finish(): Buffer | Refusal {
    if (this.#refusal !== undefined) return this.#refusal;
    // The body is complete and its memory is free again soon, so it need not give way.
    this.#budget.adopt(this);
    this.stranger = undefined;
    this.#isComplete = true;
    return this.#length === this.#room.length ? this.#room : this.#room.subarray(0, this.#length);
  }

  /** The rest of the body is not wanted: frees its memory and only counts further bytes. */
  discard(): void {
    this.#isWanted = false;
    this.#giveBack();
  }

  #assignTo(accountId: string): void {
    if (this.customer !== undefined || this.#room.length === 0) return;
    if (!this.#budget.assign(accountId, this.#room.length)) throw tooManyLargeBodies();
    this.customer = accountId;
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
