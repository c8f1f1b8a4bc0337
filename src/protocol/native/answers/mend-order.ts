import { type Json, readObject } from '../../json/upstream-json.ts';

/**
 * Repairs a stream that begins a call before it ends its thinking. Some servers give both blocks
 * the same index and end the thinking after the calls, so clients add a call's input to the
 * thinking.
 *
 *   sent     thinking 0 ─▶ call 0 ─▶ end 0 ─▶ call 1 ─▶ end 1 ─▶ end 2
 *   repaired thinking 0 ─▶ end 0 ─▶ call 1 ─▶ end 1 ─▶ call 2 ─▶ end 2
 */
export function createOrderMender(): OrderMender {
  return new OrderMender();
}

class OrderMender {
  /** The start of the block that has not ended yet. */
  #open: Json | undefined;
  /** Whether a thought was ended here whose own end is still to come. */
  #isEndDue = false;

  /** Returns what to read instead of a payload, or `undefined` if nothing is wrong with it. */
  mend(payload: Json): readonly Json[] | undefined {
    switch (payload['type']) {
      case 'content_block_start':
        return this.#start(payload);
      case 'content_block_delta':
        return this.#renumber(payload);
      case 'content_block_stop':
        return this.#stop(payload);
      default:
        return undefined;
    }
  }

  #start(payload: Json): readonly Json[] | undefined {
    const before = this.#open;
    this.#open = payload;
    const { index } = payload;
    const isThinking = readObject(before ?? {}, 'content_block')['type'] === 'thinking';
    const isEarly = isThinking && before?.['index'] === index && !this.#isEndDue;
    if (!isEarly) return this.#renumber(payload);
    this.#isEndDue = true;
    return [{ type: 'content_block_stop', index }, ...(this.#renumber(payload) ?? [payload])];
  }

  /** After an end that came late, the server counts blocks as clients do. */
  #stop(payload: Json): readonly Json[] | undefined {
    const isLate = this.#open === undefined && this.#isEndDue;
    this.#open = undefined;
    if (!isLate) return this.#renumber(payload);
    this.#isEndDue = false;
    return [];
  }

  #renumber(payload: Json): readonly Json[] | undefined {
    const { index } = payload;
    if (!this.#isEndDue || typeof index !== 'number') return undefined;
    return [{ ...payload, index: index + 1 }];
  }
}
