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

export function createMeter({
  price,
  inputTokens,
  bytesPerToken,
}: {
  readonly price: Price;
  /** An estimate, for answers whose input nobody has counted. */
  readonly inputTokens: number;
  readonly bytesPerToken: number;
}): Meter {
  let started: Usage | undefined;
  let finished: Usage | undefined;
  let deliveredBytes = 0;

  /** The upstream's own account of the answer, unless it left out what was delivered or what was asked. */
  const countedUsage = (): Usage | undefined => {
    if (finished === undefined) return undefined;
    const lacksInput = !hasInput(finished) && finished.output + deliveredBytes > 0;
    const lacksOutput = finished.output === 0 && deliveredBytes > 0;
    return lacksInput || lacksOutput ? undefined : finished;
  };

  const estimateUsage = (): Usage => {
    const input = [finished, started].find((told) => told !== undefined && hasInput(told));
    const { thinking } = finished ?? started ?? NO_USAGE;
    const deliveredTokens = Math.ceil(deliveredBytes / bytesPerToken);
    const output = finished?.output || Math.max(started?.output ?? 0, deliveredTokens);
    const told = input ?? { ...NO_USAGE, input: inputTokens };
    return { ...told, output, thinking: Math.min(thinking, output) };
  };

  const hasBegun = () => started !== undefined || deliveredBytes > 0 || finished !== undefined;

  const bill = (usage: Usage, isEstimated: boolean): Bill => ({
    usage,
    chargeMicros: priceUsage(usage, price),
    isEstimated,
  });

  return {
    note(event) {
      if (event.type === 'delta') deliveredBytes += countContentBytes(event.delta);
      else if (event.type === 'start') started = event.usage;
      else if (event.type === 'finish') {
        finished = event.usage;
        if (countedUsage() === undefined) return { ...event, usage: estimateUsage() };
      }
      return event;
    },
    noteContent(bytes) {
      deliveredBytes += bytes;
    },
    seenMicros: () => (hasBegun() ? priceUsage(countedUsage() ?? estimateUsage(), price) : 0),
    close(how) {
      if (how === 'undelivered') return bill(NO_USAGE, false);
      if (how === 'failed' && deliveredBytes === 0) return bill(NO_USAGE, false);
      if (how === 'left' && !hasBegun()) return bill(NO_USAGE, false);
      const counted = countedUsage();
      return counted === undefined ? bill(estimateUsage(), true) : bill(counted, false);
    },
  };
}

function hasInput({ input, cacheRead, cacheWrite5m, cacheWrite1h }: Usage): boolean {
  return input + cacheRead + cacheWrite5m + cacheWrite1h > 0;
}
