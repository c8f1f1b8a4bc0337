/** The figures of one round of one contestant. */
export interface Round {
  readonly units: number;
  readonly failures: number;
  readonly seconds: number;
  readonly unitsPerSecond: number;
  /** CPU time of the contestant per unit. */
  readonly cpuMicros: number;
  /** CPU time of a primary, a store, the upstream and the load. */
  readonly sideMicros: Readonly<Record<string, number>>;
  /** The share of one core in use. Well below 1 if something else was the limit. */
  readonly busyShare: number;
  readonly residentMb: number;
  readonly latencyMs: Readonly<Record<string, number>>;
  readonly details: Readonly<Record<string, number>>;
  readonly generator: string;
  /** How many cores other processes used in the meantime. */
  readonly foreignCores: number;
  readonly isNoisy: boolean;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/**
 * One contestant in one case: either the reason why it has no rounds, or its rounds and summary.
 */
export interface Figures {
  readonly failure?: string;
  readonly rounds: readonly Round[];
  /** Without the noisy rounds, if enough other rounds are left. */
  readonly roundsUsed: number;
  readonly generator: string;
  readonly failures: number;
  readonly cpuMicros: Spread;
  readonly unitsPerSecond: Spread;
  readonly busyShare: Spread;
  readonly residentMb: Spread;
  readonly sideMicros: Readonly<Record<string, Spread>>;
  readonly latencyMs: Readonly<Record<string, Spread>>;
  readonly details: Readonly<Record<string, Spread>>;
}
