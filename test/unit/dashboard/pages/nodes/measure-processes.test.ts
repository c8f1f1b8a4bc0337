import { expect, it } from 'vitest';
import { measureProcesses } from '../../../../../src/dashboard/pages/nodes/measure-processes.ts';

const lagBucket = (process: string, end: string, count: number) =>
  `tollgate_event_loop_lag_seconds_bucket{process="${process}",le="${end}"} ${count}`;

const METRICS = [
  '# HELP tollgate_memory_bytes Total memory of all processes of a kind.',
  '# TYPE tollgate_memory_bytes gauge',
  'tollgate_memory_bytes{process="primary",kind="rss"} 1000',
  'tollgate_memory_bytes{process="primary",kind="heap_used"} 200',
  'tollgate_memory_bytes{process="primary",kind="external"} 30',
  'tollgate_memory_bytes{kind="rss",process="worker"} 4e3',
  lagBucket('primary', '0.001', 49),
  lagBucket('primary', '0.01', 98),
  lagBucket('primary', '0.25', 99),
  lagBucket('primary', '+Inf', 100),
  lagBucket('worker', '0.001', 0),
  lagBucket('worker', '+Inf', 3),
  'tollgate_event_loop_lag_seconds_count{process="primary"} 100',
  'tollgate_workers 2',
].join('\n');

it('memory and lag of each kind of process are read from the metrics', () => {
  expect(measureProcesses(METRICS)).toEqual([
    {
      process: 'primary',
      memory: { rss: 1_000, heapUsed: 200, external: 30 },
      lagMsP50: 10,
      lagMsP99: 250,
    },
    {
      process: 'worker',
      memory: { rss: 4_000, heapUsed: 0, external: 0 },
      // The lag is unknown beyond the last bucket.
      lagMsP50: undefined,
      lagMsP99: undefined,
    },
  ]);
});

it('a node that has told nothing yet has no figures', () => {
  expect(measureProcesses('')).toEqual([]);
  expect(measureProcesses('tollgate_memory_bytes{process="worker",kind="rss"} 5')).toEqual([
    {
      process: 'worker',
      memory: { rss: 5, heapUsed: 0, external: 0 },
      lagMsP50: undefined,
      lagMsP99: undefined,
    },
  ]);
});
