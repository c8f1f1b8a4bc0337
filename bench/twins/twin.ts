/** A fast twin and the plain version that it replaces. */
export interface Twin {
  /** The name in the table of NOTES.md. */
  readonly file: string;
  /** What one call does. */
  readonly what: string;
  readonly unit: string;
  readonly plain: Measure;
  readonly fast: Measure;
}

/** Measures once. Every round calls it again. */
export type Measure = () => number | Promise<number>;

const SPAN_MICROS = 40_000;
const BATCH_CALLS = 20;

/** CPU time of this process per call, in microseconds, including the collection of its garbage. */
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

/** The same for asynchronous calls: `atOnce` calls at a time, in `waves` waves. */
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
