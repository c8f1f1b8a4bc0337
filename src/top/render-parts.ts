import type { Quantiles } from './build-view.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export const UNKNOWN = '-';
const GAP = '  ';

export function wrapParts(parts: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const joined = `${last ?? ''}${GAP}${part}`;
    if (last !== undefined && joined.length <= columns) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return lines;
}

export function renderTable(
  head: readonly string[],
  body: readonly (readonly string[])[],
): string[] {
  const all = [head, ...body];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

export function renderNumber(value: number | null): string {
  if (value === null) return UNKNOWN;
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

export function renderQuantiles({ p50, p99 }: Quantiles): string {
  return `p50 ${renderSeconds(p50)} p99 ${renderSeconds(p99)}`;
}

function renderSeconds(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  return seconds < 1 ? `${renderNumber(seconds * 1_000)}ms` : `${renderNumber(seconds)}s`;
}

export function renderUptime(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  const [days, hours, minutes] = [86_400, 3_600, 60].map((unit) => Math.floor(seconds / unit));
  if (days) return `${days}d`;
  if (hours) return `${hours}h`;
  return minutes ? `${minutes}m` : `${seconds}s`;
}

/** Cuts the lines to the size of the screen, and says how many are missing. */
export function fitLines(lines: readonly string[], { columns, rows }: ScreenSize): string[] {
  const clipped = lines.map((line) => clipLine(line, columns));
  if (clipped.length <= rows) return clipped;
  const shown = clipped.slice(0, Math.max(0, rows - 1));
  return [...shown, clipLine(`… ${clipped.length - shown.length} more lines`, columns)];
}

/** Names come from settings and may hold anything. Control characters must not steer a terminal. */
function clipLine(line: string, columns: number): string {
  const text = line.replaceAll(/\p{Cc}/gu, '?');
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
}
