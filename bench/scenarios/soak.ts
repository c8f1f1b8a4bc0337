/** Runs a mixed load for a chosen time, then checks every invariant of limits and credits. */
import { parseArgs } from 'node:util';
import { describeSample, describeSoak } from '../soak/describe-soak.ts';
import { runSoak } from '../soak/run-soak.ts';
import { writeResult } from '../support/write-result.ts';

const MS_PER_MINUTE = 60_000;
const RATE_WINDOW_MS = 60_000;

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '5' },
    clients: { type: 'string', default: '24' },
    'disturb-every': { type: 'string', default: '1' },
    'kill-workers': { type: 'boolean', default: false },
  },
});
const minutesOf = (text: string) => {
  const minutes = Number(text);
  if (!(minutes > 0)) throw new Error(`${text} is no number of minutes`);
  return minutes * MS_PER_MINUTE;
};
const result = await runSoak({
  durationMs: minutesOf(values.minutes),
  clients: Number(values.clients),
  rateWindowMs: RATE_WINDOW_MS,
  disturbIntervalMs: minutesOf(values['disturb-every']),
  killsWorkers: values['kill-workers'],
  onSample: (sample) => console.error(describeSample(sample)),
});
writeResult('soak', describeSoak(result), { options: values, ...result });
if (result.broken.length > 0) process.exitCode = 1;
