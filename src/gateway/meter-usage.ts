import { priceUsage } from '../catalogue/price-usage.ts';
import type { Price } from '../catalogue/resolve-model.ts';
import { countContentBytes } from '../protocol/count-content-bytes.ts';
import type { InferenceEvent, Usage } from '../protocol/inference.ts';
import { NO_USAGE } from '../protocol/native/decode-usage.ts';

/**
 * How an answer ended: with all it had to say; because the upstream broke or refused, after its beginning was
 * delivered or before; or because the client left, was cut off or lost its key.
 */
export type AnswerEnd = 'complete' | 'failed' | 'undelivered' | 'left';

export interface Bill {
  readonly usage: Usage;
  readonly chargeMicros: number;
  /** Some of the usage is computed from what was delivered, since no upstream told it. */
  readonly isEstimated: boolean;
}

/** Follows the events of one answer and tells what it costs. */
export interface Meter {
  /** The same event again, or an end with the usage that it lacks. For every event of every answer. */
  note(event: InferenceEvent): InferenceEvent;
  /** The same for deltas that were only counted. */
  noteContent(bytes: number): void;
  /** What the answer would cost if it ended here. */
  seenMicros(): number;
  close(how: AnswerEnd): Bill;
}

interface MeterOptions {
  readonly price: Price;
  /** An estimate, for answers whose input nobody has counted. */
  readonly inputTokens: number;
  readonly bytesPerToken: number;
}

export function createMeter(options: MeterOptions): Meter {
  return new UsageMeter(options);
}

/** A class, because one is made for every request and its methods are then shared. */
class UsageMeter implements Meter {
  readonly #options: MeterOptions;
  #started: Usage | undefined;
  #finished: Usage | undefined;
  #deliveredBytes = 0;

  constructor(options: MeterOptions) {
    this.#options = options;
  }

  note(event: InferenceEvent): InferenceEvent {
    if (event.type === 'delta') this.#deliveredBytes += countContentBytes(event.delta);
    else if (event.type === 'start') this.#started = event.usage;
    else if (event.type === 'finish') {
      this.#finished = event.usage;
      if (this.#countedUsage() === undefined) return { ...event, usage: this.#estimateUsage() };
    }
    return event;
  }

  noteContent(bytes: number): void {
    this.#deliveredBytes += bytes;
  }

  seenMicros(): number {
    if (!this.#hasBegun()) return 0;
    return priceUsage(this.#countedUsage() ?? this.#estimateUsage(), this.#options.price);
  }

  close(how: AnswerEnd): Bill {
    const isFree =
      how === 'undelivered' ||
      (how === 'failed' && this.#deliveredBytes === 0) ||
      (how === 'left' && !this.#hasBegun());
    if (isFree) return this.#bill(NO_USAGE, false);
    const counted = this.#countedUsage();
    return counted === undefined
      ? this.#bill(this.#estimateUsage(), true)
      : this.#bill(counted, false);
  }

  #hasBegun(): boolean {
    return this.#started !== undefined || this.#deliveredBytes > 0 || this.#finished !== undefined;
  }

  /** The upstream's own account of the answer, unless it left out what was delivered or what was asked. */
  #countedUsage(): Usage | undefined {
    const finished = this.#finished;
    if (finished === undefined) return undefined;
    const lacksInput = !hasInput(finished) && finished.output + this.#deliveredBytes > 0;
    const lacksOutput = finished.output === 0 && this.#deliveredBytes > 0;
    return lacksInput || lacksOutput ? undefined : finished;
  }

  #estimateUsage(): Usage {
    const { inputTokens, bytesPerToken } = this.#options;
    const [started, finished] = [this.#started, this.#finished];
    const input = [finished, started].find((told) => told !== undefined && hasInput(told));
    const { thinking } = finished ?? started ?? NO_USAGE;
    const deliveredTokens = Math.ceil(this.#deliveredBytes / bytesPerToken);
    const output = finished?.output || Math.max(started?.output ?? 0, deliveredTokens);
    const told = input ?? { ...NO_USAGE, input: inputTokens };
    return { ...told, output, thinking: Math.min(thinking, output) };
  }

  #bill(usage: Usage, isEstimated: boolean): Bill {
    return { usage, chargeMicros: priceUsage(usage, this.#options.price), isEstimated };
  }
}

function hasInput({ input, cacheRead, cacheWrite5m, cacheWrite1h }: Usage): boolean {
  return input + cacheRead + cacheWrite5m + cacheWrite1h > 0;
}
