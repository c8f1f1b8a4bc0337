const MS_PER_DAY = 86_400_000;

export interface Period {
  /** The first UTC day: `2027-01-31`. The period ends now. */
  readonly from: string;
  /** All days of the period, ascending. */
  readonly days: readonly string[];
}

/** Returns the last `count` UTC days, including today. */
export function createPeriod(count: number, nowMs: number): Period {
  const days = Array.from({ length: count }, (_, index) =>
    new Date(nowMs - (count - 1 - index) * MS_PER_DAY).toISOString().slice(0, 'yyyy-mm-dd'.length),
  );
  return { from: days[0] ?? '', days };
}
