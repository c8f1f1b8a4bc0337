import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPeers } from './install-peers.ts';
import type { Options } from './parse-options.ts';
import { CAN_PIN, pinBench } from './pinned-process.ts';
import { readMachine } from './read-machine.ts';
import { writeReport } from './report/write-report.ts';
import { type CaseResult, runStage } from './run-stage.ts';
import type { Scenario, Stage } from './scenario.ts';

const tell = (line: string) => console.error(`bench: ${line}`);

/** Runs one scenario after another. Each result is written as soon as its scenario ends. */
export async function runComparison(
  selected: readonly Scenario[],
  { resultsDir }: Options,
): Promise<void> {
  if (selected.some(needsPeers)) tryToInstallPeers();
  if (!CAN_PIN) tell('there is one CPU only: nothing is pinned, and figures are worth little');
  pinBench();
  const endAtOnce = () => process.exit(1);
  process.once('SIGINT', endAtOnce).once('SIGTERM', endAtOnce);
  for (const scenario of selected) {
    tell(`${scenario.name}: ${scenario.title}`);
    const cases = await runScenario(scenario);
    const result = {
      scenario,
      measuredAt: new Date().toISOString(),
      machine: readMachine(),
      cases,
    };
    console.log(writeReport(result, resultsDir));
  }
}

/**
 * If peers are not installed, all others are still measured, and the rows of the peers say what is
 * missing.
 */
function tryToInstallPeers(): void {
  try {
    installPeers();
  } catch (error) {
    tell(`the other gateways could not be installed: ${(error as Error).message}`);
  }
}

function needsPeers({ stages }: Scenario): boolean {
  const isNeeded = ({ contestants, cases }: Stage) =>
    contestants.some(({ isPeer }) => isPeer) ||
    cases.some(({ load }) => load.kind === 'closed-loop' && load.generator === 'autocannon');
  return stages.some(isNeeded);
}

async function runScenario({
  stages,
  seconds,
  warmUpSeconds,
  rounds,
}: Scenario): Promise<CaseResult[]> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-compare-'));
  const results: CaseResult[] = [];
  const remove = () => rmSync(dir, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    for (const [index, stage] of stages.entries()) {
      const stageDir = join(dir, String(index));
      mkdirSync(stageDir);
      results.push(
        ...(await runStage(stage, { dir: stageDir, seconds, warmUpSeconds, rounds, tell })),
      );
    }
  } finally {
    process.off('exit', remove);
    remove();
  }
  return mergeByName(results);
}

/** If two stages have the same case with different contestants, one table shows both. */
function mergeByName(results: readonly CaseResult[]): CaseResult[] {
  const merged = new Map<string, CaseResult>();
  for (const { name, figures } of results) {
    merged.set(name, { name, figures: { ...merged.get(name)?.figures, ...figures } });
  }
  return [...merged.values()];
}
