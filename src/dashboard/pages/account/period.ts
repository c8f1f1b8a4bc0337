const MS_PER_DAY = 86_400_000;

export interface Period {
  /** The first UTC day: `2027-01-31`. It ends now. */
  readonly from: string;
  /** All of its days, ascending. */
  readonly days: readonly string[];
}

/** So many UTC days, today among them. */
export function createPeriod(count: number, nowMs: number): Period {
  const days = Array.from({ length: count }, (_, index) =>
    new Date(nowMs - (count - 1 - index) * MS_PER_DAY).toISOString().slice(0, 'yyyy-mm-dd'.length),
  );
  return { from: days[0] ?? '', days };
}
