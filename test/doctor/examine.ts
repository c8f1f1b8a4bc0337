import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CheckName } from '../../src/doctor/checks.ts';
import type { Finding } from '../../src/doctor/finding.ts';
import { runDoctor } from '../../src/doctor/run-doctor.ts';
import type { Clock } from '../../src/lib/time/clock.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';

interface Patient {
  /** YAML added to the listeners and the data folder, which are always configured. */
  readonly settings?: string;
  readonly redisUrl?: string;
  readonly dataDir?: string;
  /** Replaces host and port. */
  readonly listen?: string;
  readonly host?: string;
  readonly port?: number;
  readonly clock?: Clock;
}

export type Find = (name: CheckName, subject?: string) => Finding;

/** Runs every check in this process. */
export async function examine(patient: Patient = {}): Promise<Find> {
  const configPath = await writeSettings(patient);
  const clock = patient.clock ?? { nowMs: () => Date.now() };
  const results = await runDoctor({ configPath, clock });
  return (name, subject) => {
    const result = results.find((each) => each.name === name && each.subject === subject);
    if (result === undefined) throw new Error(`there was no check ${name}`);
    return result.finding;
  };
}

export async function writeSettings(patient: Patient): Promise<string> {
  const dir = createTempDir();
  const configPath = join(dir, 'tollgate.yaml');
  const { settings = '', redisUrl, dataDir = join(dir, 'data') } = patient;
  const lines = [
    `listen: ${patient.listen ?? `${patient.host ?? '127.0.0.1'}:${patient.port ?? (await findFreePort())}`}`,
    `ops: {listen: 127.0.0.1:${await findFreePort()}}`,
    `data_dir: ${dataDir}`,
    ...(redisUrl === undefined ? [] : [`redis: {url: '${redisUrl}'}`]),
    settings,
  ];
  writeFileSync(configPath, lines.join('\n'));
  return configPath;
}

/** A check that finds something to fix says how to fix it. */
export function problem(state: 'warning' | 'failed', found: string, mend: string) {
  return {
    state,
    found: expect.stringContaining(found),
    mend: expect.stringContaining(mend),
  };
}
