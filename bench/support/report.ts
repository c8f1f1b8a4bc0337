import type { Summary } from './summarise.ts';
import { writeResult } from './write-result.ts';

const HEAD = [
  '| what | samples | p50 ms | p99 ms | max ms | 35-45 ms |',
  '|---|--:|--:|--:|--:|--:|',
];

export function report(scenario: string, rows: Readonly<Record<string, Summary>>): void {
  const lines = Object.entries(rows).map(([what, summary]) => {
    const times = [summary.p50Ms, summary.p99Ms, summary.maxMs].map((ms) => ms.toFixed(2));
    const share = `${(summary.delayedAckShare * 100).toFixed(2)} %`;
    return `| ${[what, summary.samples, ...times, share].join(' | ')} |`;
  });
  writeResult(scenario, [...HEAD, ...lines].join('\n'), { rows });
}
