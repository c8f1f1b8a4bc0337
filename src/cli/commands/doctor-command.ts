import type { CheckResult } from '../../doctor/run-check.ts';
import { runDoctor } from '../../doctor/run-doctor.ts';
import { systemClock } from '../../timers/system-clock.ts';
import { printTable } from '../print-table.ts';

interface DoctorCommandOptions {
  readonly configPath: string | undefined;
  readonly json: boolean;
  readonly out: (text: string) => void;
}

/** Checks everything that a node needs. Returns 0 if nothing failed, else 1. */
export async function runDoctorCommand({
  configPath,
  json,
  out,
}: DoctorCommandOptions): Promise<number> {
  const results = await runDoctor({ configPath, clock: systemClock });
  const isOk = results.every(({ finding }) => finding.state !== 'failed');
  out(
    json
      ? JSON.stringify({ ok: isOk, checks: results.map(showResult) }, undefined, 2)
      : printResults(results),
  );
  return isOk ? 0 : 1;
}

function showResult({ name, subject, finding }: CheckResult) {
  return {
    name,
    subject: subject ?? null,
    state: finding.state,
    found: finding.found,
    mend: 'mend' in finding ? finding.mend : null,
  };
}

function printResults(results: readonly CheckResult[]): string {
  const rows = results.flatMap(({ name, subject, finding }) => {
    const title = subject === undefined ? name : `${name} ${subject}`;
    const [first = '', ...rest] = finding.found.split('\n');
    return [
      [title, finding.state, first],
      ...rest.map((line) => ['', '', line]),
      ...('mend' in finding ? [['', '', `→ ${finding.mend}`]] : []),
    ];
  });
  const count = (state: string) => results.filter(({ finding }) => finding.state === state).length;
  const summary = `${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed, ${count('skipped')} skipped`;
  return `${printTable([['check', 'state', 'found'], ...rows])}\n\n${summary}`;
}
