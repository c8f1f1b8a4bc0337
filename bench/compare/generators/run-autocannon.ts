import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Aim } from '../aim.ts';
import { PEERS_DIR } from '../install-peers.ts';
import { pinCommand } from '../pinned-process.ts';
import type { Meter, Outcome } from '../scenario.ts';

const run = promisify(execFile);
const GRACE_MS = 30_000;
const TIMEOUT_SECONDS = 30;

interface AutocannonReport {
  readonly requests: number;
  readonly seconds: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly failures: number;
  readonly latencyMs: Readonly<Record<string, number>>;
}

/**
 * A closed loop in JavaScript. Many people know it, but it is itself the limit of any fast server.
 */
export async function runAutocannon(
  aim: Aim,
  connections: number,
  seconds: number,
  meter: Meter,
): Promise<Outcome> {
  const file = join(aim.dir, 'autocannon.json');
  const { headers, body } = aim;
  const url = `http://127.0.0.1:${aim.port}${aim.path}`;
  const size = { connections, duration: seconds, timeout: TIMEOUT_SECONDS };
  writeFileSync(file, JSON.stringify({ url, method: 'POST', headers, body, ...size }));
  const program = join(PEERS_DIR, 'run-autocannon.mjs');
  const [command, args] = pinCommand('rest', [process.execPath, program, file]);
  meter.begin();
  const { stdout } = await run(command, args, { timeout: seconds * 1_000 + GRACE_MS });
  meter.end();
  const {
    requests,
    seconds: took,
    statuses,
    failures,
    latencyMs,
  } = JSON.parse(stdout) as AutocannonReport;
  const good = statuses[aim.status] ?? 0;
  return {
    generator: 'autocannon',
    units: requests,
    seconds: took,
    failures: requests - good + failures,
    latencyMs,
    details: {},
  };
}
