import { isBlank } from '../../fields/is-blank.ts';
import type { StreamEncoder } from '../../format.ts';
import type { InferenceEvent } from '../../inference.ts';

type EventOf<Type extends InferenceEvent['type']> = Extract<InferenceEvent, { type: Type }>;

/** How much white space waits for a text after it. */
const HELD_CHARS_MAX = 64 * 1024;

/**
 * Begins a text block with its first visible text. A block that has none is left out, because
 * nobody takes it back.
 */
export function holdBlankTexts(encoder: StreamEncoder): StreamEncoder {
  return new HoldingEncoder(encoder);
}

class HoldingEncoder implements StreamEncoder {
  readonly #encoder: StreamEncoder;
  /** The beginning of a text that has nothing visible yet. */
  #held: EventOf<'block_start'> | undefined;
  #heldText = '';
  #leftOut = 0;

  constructor(encoder: StreamEncoder) {
    this.#encoder = encoder;
  }

  encode(event: InferenceEvent): string {
    switch (event.type) {
      case 'block_start':
        if (event.block.type !== 'text') return this.#encodeInPlace(event);
        this.#held = event;
        return '';
      case 'delta':
        return this.#held === undefined
          ? this.#encodeInPlace(event)
          : this.#encodeHeld(this.#held, event);
      case 'block_stop':
        if (this.#held === undefined) return this.#encodeInPlace(event);
        this.#release();
        this.#leftOut += 1;
        return '';
      default:
        return this.#encoder.encode(event);
    }
  }

  encodeError(...said: Parameters<StreamEncoder['encodeError']>): string {
    return this.#encoder.encodeError(...said);
  }

  encodeSilence(): string {
    return this.#encoder.encodeSilence();
  }

  #encodeHeld(held: EventOf<'block_start'>, { index, delta }: EventOf<'delta'>): string {
    const said = delta.type === 'text' ? delta.text : '';
    this.#heldText += said;
    const text = this.#heldText;
    if (isBlank(said) && text.length <= HELD_CHARS_MAX) return '';
    this.#release();
    const first = { type: 'delta', index, delta: { type: 'text', text } } as const;
    return this.#encodeInPlace(held) + this.#encodeInPlace(first);
  }

  #release(): void {
    this.#held = undefined;
    this.#heldText = '';
  }

  #encodeInPlace(event: EventOf<'block_start' | 'delta' | 'block_stop'>): string {
    if (this.#leftOut === 0) return this.#encoder.encode(event);
    return this.#encoder.encode({ ...event, index: event.index - this.#leftOut });
  }
}
