import { type CompleteHead, measureCork } from './answer-head.ts';
import { SLICE_BYTES_MAX } from './http-limits.ts';

/**
 * uWS runs handlers inside a cork of its own, which ends with the turn of the event loop.
 * Everything that an answer writes in it counts together; what does not fit waits for the next
 * turn.
 */
export class FirstTurn {
  #isOver = false;
  #bytes = 0;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the end of an answer may be written at once, beside its head if that is unsent. */
  hasRoomForEnd(bytes: number, unsentHead: CompleteHead | undefined): boolean {
    if (bytes === 0 || bytes > measureCork(unsentHead, bytes)) return false;
    return this.#isOver || this.#bytes === 0 || this.#bytes + bytes <= SLICE_BYTES_MAX;
  }

  /** Returns whether there is room. The first slice was measured together with its head. */
  take(sliceBytes: number): boolean {
    if (this.#isOver) return true;
    this.#bytes += sliceBytes;
    return this.#bytes <= Math.max(sliceBytes, SLICE_BYTES_MAX);
  }

  goOnAfter(goOn: () => void): void {
    setImmediate(() => {
      this.#isOver = true;
      goOn();
    });
  }
}
