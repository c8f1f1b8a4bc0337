import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../read-machine.ts';
import type { CaseResult } from '../run-stage.ts';
import type { Scenario } from '../scenario.ts';
import { describeResult } from './describe-result.ts';
import { plotResult } from './plot-result.ts';

export interface ComparisonResult {
  readonly scenario: Scenario;
  readonly measuredAt: string;
  readonly machine: Machine;
  readonly cases: readonly CaseResult[];
}

/** Writes the figures as JSON, tables as Markdown and plots as SVG. Returns the tables. */
export function writeReport(result: ComparisonResult, dir: string): string {
  const { scenario, ...figures } = result;
  const { name, title, unit, seconds, rounds } = scenario;
  mkdirSync(dir, { recursive: true });
  const json = { scenario: name, title, unit, seconds, rounds, ...figures };
  const markdown = describeResult(result);
  writeFileSync(join(dir, `${name}.json`), `${JSON.stringify(json, null, 2)}\n`);
  writeFileSync(join(dir, `${name}.md`), markdown);
  writeFileSync(join(dir, `${name}.svg`), plotResult(title, result.cases, unit));
  return markdown;
}
