/** One fast twin beside the plain way that it stands for. */
export interface Twin {
  /** As the table of NOTES.md names it. */
  readonly file: string;
  /** What is done once. */
  readonly what: string;
  readonly unit: string;
  readonly plain: Measure;
  readonly fast: Measure;
}

/** Measures once; asked again in each round. */
export type Measure = () => number | Promise<number>;

const SPAN_MICROS = 40_000;
const BATCH_CALLS = 20;

/** CPU time of this process for one call, in microseconds, with the collection of what it leaves behind. */
export function cpuMicros(call: () => unknown): () => number {
  return () => {
    const before = process.cpuUsage();
    let calls = 0;
    let micros = 0;
    while (micros < SPAN_MICROS) {
      for (let i = 0; i < BATCH_CALLS; i++) call();
      calls += BATCH_CALLS;
      const { user, system } = process.cpuUsage(before);
      micros = user + system;
    }
    return micros / calls;
  };
}

/** The same for calls that are waited for: so many at the same time, and in all. */
export function cpuMicrosOfWaves(
  call: () => Promise<unknown>,
  { atOnce, waves }: { readonly atOnce: number; readonly waves: number },
): () => Promise<number> {
  return async () => {
    const before = process.cpuUsage();
    for (let wave = 0; wave < waves; wave++) {
      await Promise.all(Array.from({ length: atOnce }, call));
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / (atOnce * waves);
  };
}
