import type { SoakResult } from './run-soak.ts';
import type { Sample } from './take-sample.ts';

const MIB = 1_048_576;

export function describeSoak(result: SoakResult): string {
  const { broken, outcomes, done, growth, cost, samples, ledgerEntries } = result;
  return [
    broken.length === 0 ? 'Every invariant held.' : `${broken.length} invariants did NOT hold:`,
    ...broken.map((what) => `- ${what}`),
    '',
    `Requests: ${describeCounts(outcomes)}.`,
    `Done beside them: ${describeCounts(done)}. Entries of the ledger: ${ledgerEntries}.`,
    '',
    '| process that lived through the second half | MiB at its end | MiB per hour |',
    '|---|--:|--:|',
    ...growth.map(
      ({ name, lastMib, mibPerHour }) =>
        `| ${name} | ${lastMib.toFixed(1)} | ${mibPerHour.toFixed(1)} |`,
    ),
    '',
    '| until s | requests | CPU us of the workers a request |',
    '|--:|--:|--:|',
    ...cost.map(
      ({ untilSeconds, requests, workerMicros }) =>
        `| ${untilSeconds.toFixed(0)} | ${requests} | ${workerMicros?.toFixed(0) ?? '-'} |`,
    ),
    '',
    '| s | requests/s | lag p99 ms | holds | queue | journal | RSS MiB | files | Redis MiB |',
    '|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...samples.map((sample, index) => describeRow(sample, samples[index - 1]?.atSeconds ?? 0)),
  ].join('\n');
}

export function describeSample({ atSeconds, outcomes, processes, holds }: Sample): string {
  const rss = processes.map(({ name, rssBytes }) => `${name} ${inMib(rssBytes)}`);
  return `${atSeconds.toFixed(0)} s: ${describeCounts(outcomes)}; holds ${holds}; MiB ${rss.join(', ')}`;
}

function describeRow(sample: Sample, sinceSeconds: number): string {
  const { atSeconds, outcomes, lagP99Seconds, holds, settleQueue, journal, processes } = sample;
  const requests = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  const cells = [
    atSeconds.toFixed(0),
    (requests / (atSeconds - sinceSeconds)).toFixed(0),
    lagP99Seconds === null ? '-' : (lagP99Seconds * 1_000).toFixed(0),
    ...[holds, settleQueue, journal],
    inMib(sumOf(processes.map(({ rssBytes }) => rssBytes))),
    sumOf(processes.map(({ openFiles }) => openFiles)),
    inMib(sample.redisBytes),
  ];
  return `| ${cells.join(' | ')} |`;
}

const inMib = (bytes: number) => (bytes / MIB).toFixed(1);

function describeCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([what, count]) => `${what} ${count}`)
    .join(', ');
}
