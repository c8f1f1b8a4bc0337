/** What is billed. `input` excludes cache reads and writes; `output` includes thinking. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  /** How many of `cacheWrite5m` may be for an hour too: the upstream did not say. */
  readonly untimedWrite?: number | undefined;
  readonly output: number;
  readonly thinking: number;
  /** Web searches that the vendor made for the model. */
  readonly searches: number;
}
