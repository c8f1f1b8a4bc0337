import type { Quantiles, TopView } from './build-view.ts';

interface Size {
  readonly columns: number;
  readonly rows: number;
}

const UNKNOWN = '-';
const GAP = '  ';
const MEBIBYTE = 1024 ** 2;

/** The lines of a screen. No line is wider than the screen, and all of them fit on it. */
export function renderView(view: TopView, { columns, rows }: Size): string[] {
  const lines = [
    `tollgate top${GAP}node ${view.node ?? UNKNOWN}${GAP}version ${view.version ?? UNKNOWN}`,
    ...view.problems.map((problem) => `! ${problem}`),
    '',
    ...renderNumbers(view, columns),
    '',
    ...renderTable(
      ['upstream', 'state', 'in flight', 'tries/s', 'failures/s'],
      view.upstreams.map((upstream) => [
        upstream.name ?? UNKNOWN,
        upstream.state ?? UNKNOWN,
        renderShare(upstream.in_flight, upstream.in_flight_max),
        renderNumber(upstream.tries_per_second),
        renderNumber(upstream.failures_per_second),
      ]),
    ),
    '',
    ...renderTable(
      ['worker', 'pid', 'state', 'in flight', 'up'],
      view.workers.map((worker) => [
        renderNumber(worker.worker),
        renderNumber(worker.pid),
        worker.state ?? UNKNOWN,
        renderNumber(worker.in_flight),
        renderUptime(worker.uptime_seconds),
      ]),
    ),
  ].map((line) => clipLine(line, columns));
  if (lines.length <= rows) return lines;
  const shown = lines.slice(0, Math.max(0, rows - 1));
  return [...shown, clipLine(`… ${lines.length - shown.length} more lines`, columns)];
}

/** Puts as many numbers beside each other as fit, and keeps groups together. */
function renderNumbers(view: TopView, columns: number): string[] {
  const groups = [
    [
      `requests/s ${renderNumber(view.requests_per_second)}`,
      `errors/s ${renderNumber(view.errors_per_second)}`,
      `streams ${renderNumber(view.streams)}`,
    ],
    [
      `tokens/s ${renderNumber(view.tokens_per_second)}`,
      `credits/s ${renderNumber(view.credits_per_second)}`,
    ],
    [
      `latency ${renderQuantiles(view.latency_seconds)}`,
      `first token ${renderQuantiles(view.first_token_seconds)}`,
    ],
    [`redis ${view.redis.state ?? UNKNOWN}`, `${renderQuantiles(view.redis.latency_seconds)}`],
    [
      `holds ${renderNumber(view.holds)}`,
      `settle queue ${renderNumber(view.settle_queue)}`,
      `journal ${renderNumber(view.settle_journal)}`,
    ],
    [
      `workers ${view.workers.length === 0 ? UNKNOWN : view.workers.length}`,
      `memory ${renderBytes(view.workers_memory_bytes)}`,
      `lag ${renderQuantiles(view.workers_lag_seconds)}`,
    ],
  ];
  return groups.flatMap((parts) => wrapParts(parts, columns));
}

function wrapParts(parts: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const joined = `${last ?? ''}${GAP}${part}`;
    if (last !== undefined && joined.length <= columns) lines[lines.length - 1] = joined;
    else lines.push(part);
  }
  return lines;
}

function renderTable(head: readonly string[], body: readonly (readonly string[])[]): string[] {
  const all = [head, ...body];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

function renderNumber(value: number | null): string {
  if (value === null) return UNKNOWN;
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

function renderShare(value: number | null, most: number | null): string {
  return most === null ? renderNumber(value) : `${renderNumber(value)}/${renderNumber(most)}`;
}

function renderQuantiles({ p50, p99 }: Quantiles): string {
  return `p50 ${renderSeconds(p50)} p99 ${renderSeconds(p99)}`;
}

function renderSeconds(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  return seconds < 1 ? `${renderNumber(seconds * 1_000)}ms` : `${renderNumber(seconds)}s`;
}

function renderBytes(bytes: number | null): string {
  return bytes === null ? UNKNOWN : `${Math.round(bytes / MEBIBYTE)}MiB`;
}

function renderUptime(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  const [days, hours, minutes] = [86_400, 3_600, 60].map((unit) => Math.floor(seconds / unit));
  if (days) return `${days}d`;
  if (hours) return `${hours}h`;
  return minutes ? `${minutes}m` : `${seconds}s`;
}

/** Names come from settings and may hold anything. Control characters must not steer a terminal. */
function clipLine(line: string, columns: number): string {
  const text = line.replaceAll(/\p{Cc}/gu, '?');
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
}
