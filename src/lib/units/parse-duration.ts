const UNITS_MS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** Reads `500ms`, `2s`, `10m`, `24h` or `90d` as milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(0|[1-9]\d*)(ms|s|m|h|d)$/.exec(text);
  const unitMs = UNITS_MS.find(([unit]) => unit === match?.[2])?.[1];
  if (unitMs === undefined)
    throw new Error('must be a duration such as 500ms, 2s, 10m, 24h or 90d');
  const durationMs = Number(match?.[1]) * unitMs;
  if (!Number.isSafeInteger(durationMs)) throw new Error('is too long');
  return durationMs;
}

/** Writes whole milliseconds in the largest unit that loses nothing. */
export function formatDuration(durationMs: number): string {
  if (durationMs === 0) return '0s';
  for (const [unit, unitMs] of UNITS_MS) {
    if (durationMs % unitMs === 0) return `${durationMs / unitMs}${unit}`;
  }
  return `${durationMs}ms`;
}
