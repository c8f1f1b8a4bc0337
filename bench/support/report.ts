import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Summary } from './summarise.ts';

const RESULTS_DIR = 'bench/results';

/** Prints a table, and keeps the same as JSON beside what it was measured on. */
export function report(scenario: string, rows: Readonly<Record<string, Summary>>): void {
  console.log('| what | samples | p50 ms | p99 ms | max ms | 35-45 ms |');
  console.log('|---|--:|--:|--:|--:|--:|');
  for (const [what, summary] of Object.entries(rows)) {
    const times = [summary.p50Ms, summary.p99Ms, summary.maxMs].map((ms) => ms.toFixed(2));
    const share = `${(summary.delayedAckShare * 100).toFixed(2)} %`;
    console.log(`| ${[what, summary.samples, ...times, share].join(' | ')} |`);
  }
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model };
  const result = { scenario, measuredAt: new Date().toISOString(), machine, rows };
  mkdirSync(RESULTS_DIR, { recursive: true });
  writeFileSync(`${RESULTS_DIR}/${scenario}.json`, `${JSON.stringify(result, null, 2)}\n`);
}
