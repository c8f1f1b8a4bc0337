import type { LoadResult, Percentiles } from '../load/load-result.ts';
import { ABSENT, printTable } from './print-table.ts';

const MS_DIGITS = 2;

export function printLoad(result: LoadResult): string {
  const { sent, durationMs, latencyMs, firstEventMs, waitMs } = result;
  const rate = `${sent} in ${(durationMs / 1_000).toFixed(1)} s, ${answeredPerSecond(result)} answered a second`;
  const counts = [
    ['sent', rate],
    ['answered', printCounts(result.statuses)],
    ['failed', printCounts(result.failures)],
  ];
  const times = [
    ['ms from due time', 'p50', 'p90', 'p99', 'p99.9', 'max'],
    ...(result.completed === 0 ? [] : [['to the end', ...printPercentiles(latencyMs)]]),
    ...(firstEventMs === undefined ? [] : [['to first event', ...printPercentiles(firstEventMs)]]),
    ...(sent === 0 ? [] : [['until sent', ...printPercentiles(waitMs)]]),
  ];
  return `${printTable(counts)}\n\n${printTable(times)}`;
}

export function showLoad(result: LoadResult): object {
  const { firstEventMs } = result;
  return {
    sent: result.sent,
    completed: result.completed,
    statuses: result.statuses,
    failures: result.failures,
    duration_seconds: result.durationMs / 1_000,
    answered_per_second: answeredPerSecond(result),
    latency_ms: result.latencyMs,
    first_event_ms: firstEventMs ?? null,
    wait_ms: result.waitMs,
    histogram: result.histogram.map(({ upToMs, count }) => ({ up_to_ms: upToMs, count })),
  };
}

function answeredPerSecond({ completed, durationMs }: LoadResult): number {
  return Number(((completed * 1_000) / durationMs).toFixed(1));
}

function printCounts(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).map(([name, count]) => `${name}: ${count}`);
  return entries.join(', ') || ABSENT;
}

function printPercentiles({ p50, p90, p99, p999, max }: Percentiles): string[] {
  return [p50, p90, p99, p999, max].map((ms) => ms.toFixed(MS_DIGITS));
}
