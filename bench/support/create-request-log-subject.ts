import { closeSync, openSync } from 'node:fs';
import { createRequestLog } from '../../src/log/request-log.ts';
import type { Subject } from './report-cpu-costs.ts';
import { SAMPLE_RECORD } from './sample-record.ts';

/** The request log of a worker, written to a file. */
export function createRequestLogSubject(
  name: string,
  lines: 'errors' | 'all',
  path: string,
): Subject {
  const fd = openSync(path, 'w');
  const log = createRequestLog({
    ...{
      lines,
      share: 1,
      pid: process.pid,
      from: 'worker 1',
      fd,
      shapeLine: (json: string) => json,
    },
    clock: { nowMs: () => Date.now() },
    random: Math.random,
    onDropped(count) {
      throw new Error(`${count} lines were not written`);
    },
  });
  return {
    name,
    call: () => log.note(SAMPLE_RECORD),
    async settle() {
      await log.close();
      closeSync(fd);
    },
  };
}
