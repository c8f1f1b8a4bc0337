export interface Summary {
  readonly samples: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The share of samples that match a delayed acknowledgement of 40 ms. */
  readonly delayedAckShare: number;
}

const DELAYED_ACK_FROM_MS = 35;
const DELAYED_ACK_TO_MS = 45;

export function summarise(samplesMs: readonly number[]): Summary {
  const sorted = [...samplesMs].sort((a, b) => a - b);
  const quantile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  const delayed = sorted.filter((ms) => ms >= DELAYED_ACK_FROM_MS && ms <= DELAYED_ACK_TO_MS);
  return {
    samples: sorted.length,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
    delayedAckShare: delayed.length / sorted.length,
  };
}
