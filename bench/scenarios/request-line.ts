/**
 * What one line of the request log costs: written by hand, as the log does it, and written by pino
 * with the same fields. Both write to a file. The figures are in `encode-request-line.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { destination, pino } from 'pino';
import { createRequestLogSubject } from '../support/create-request-log-subject.ts';
import { reportCpuCosts, type Subject } from '../support/report-cpu-costs.ts';
import { SAMPLE_RECORD } from '../support/sample-record.ts';

const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
const path = join(dir, 'log');

function createPinoSubject(): Subject {
  const base = { pid: process.pid, from: 'worker 1' };
  const timestamp = () => `,"time":"${new Date().toISOString()}"`;
  const log = pino({ base, timestamp }, destination({ dest: path, sync: true }));
  return {
    name: 'by pino',
    call: () => log.info(SAMPLE_RECORD, 'request'),
    settle: () => Promise.resolve(),
  };
}

await reportCpuCosts('request-line', () => [
  createRequestLogSubject('by hand', 'all', path),
  createPinoSubject(),
]);
rmSync(dir, { recursive: true });
