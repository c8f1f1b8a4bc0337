import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

const RESULTS_DIR = 'bench/results';

/** Prints the text. Writes it as Markdown, and the figures and the machine as JSON. */
export function writeResult(scenario: string, text: string, figures: object): void {
  console.log(text);
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model };
  const result = { scenario, measuredAt: new Date().toISOString(), machine, ...figures };
  mkdirSync(RESULTS_DIR, { recursive: true });
  writeFileSync(`${RESULTS_DIR}/${scenario}.json`, `${JSON.stringify(result, null, 2)}\n`);
  writeFileSync(`${RESULTS_DIR}/${scenario}.md`, `${text}\n`);
}
