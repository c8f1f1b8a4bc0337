const NO_BYTES = Buffer.alloc(0);

/**
 * Copies of bytes that come in pieces, in one memory that grows with them: many small pieces cost
 * no more than a few large ones. What comes in one piece takes no more than its length.
 */
export class GatheredBytes {
  length = 0;
  #room: Buffer = NO_BYTES;

  add(piece: Uint8Array): void {
    const length = this.length + piece.length;
    if (length > this.#room.length) this.#growTo(Math.max(length, 2 * this.length));
    this.#room.set(piece, this.length);
    this.length = length;
  }

  /** Returns all of them and keeps none. */
  take(): Buffer {
    const room = this.#room;
    const all = room.length === this.length ? room : room.subarray(0, this.length);
    this.#room = NO_BYTES;
    this.length = 0;
    return all;
  }

  #growTo(bytes: number): void {
    const room = Buffer.allocUnsafe(bytes);
    if (this.length > 0) this.#room.copy(room, 0, 0, this.length);
    this.#room = room;
  }
}
