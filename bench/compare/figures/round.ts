/** What one turn of one contestant has shown. */
export interface Round {
  readonly units: number;
  readonly failures: number;
  readonly seconds: number;
  readonly unitsPerSecond: number;
  /** CPU time of the contestant for each unit. */
  readonly cpuMicros: number;
  /** That of a primary, a store, the upstream, the load. */
  readonly sideMicros: Readonly<Record<string, number>>;
  /** Of one core. Well below 1 when something else was the limit. */
  readonly busyShare: number;
  readonly residentMb: number;
  readonly latencyMs: Readonly<Record<string, number>>;
  readonly details: Readonly<Record<string, number>>;
  readonly generator: string;
  /** How many cores somebody else used meanwhile. */
  readonly foreignCores: number;
  readonly isNoisy: boolean;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Of one contestant in one case: either why it has none, or its rounds and what they come to. */
export interface Figures {
  readonly failure?: string;
  readonly rounds: readonly Round[];
  /** Without the noisy rounds, if enough others are left. */
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
