import type { TopView } from './build-view.ts';
import {
  fitLines,
  renderNumber,
  renderQuantiles,
  renderTable,
  renderUptime,
  type ScreenSize,
  UNKNOWN,
  wrapParts,
} from './render-parts.ts';

const GAP = '  ';
const MEBIBYTE = 1024 ** 2;

/** The lines of a screen. No line is wider than the screen, and all of them fit on it. */
export function renderView(view: TopView, size: ScreenSize): string[] {
  const lines = [
    `tollgate top${GAP}node ${view.node ?? UNKNOWN}${GAP}version ${view.version ?? UNKNOWN}`,
    ...view.problems.map((problem) => `! ${problem}`),
    '',
    ...renderNumbers(view, size.columns),
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
  ];
  return fitLines(lines, size);
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

function renderShare(value: number | null, most: number | null): string {
  return most === null ? renderNumber(value) : `${renderNumber(value)}/${renderNumber(most)}`;
}

function renderBytes(bytes: number | null): string {
  return bytes === null ? UNKNOWN : `${Math.round(bytes / MEBIBYTE)}MiB`;
}
