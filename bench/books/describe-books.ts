import type { Summary } from '../support/summarise.ts';
import type { Asked } from './ask-main.ts';
import type { Filled } from './fill-books.ts';
import type { FleetSize } from './make-entries.ts';
import type { TableSize } from './measure-size.ts';

const MB = 1_000_000;
const SHOWN_SHARE = 0.001;

export interface EngineResult extends Omit<Filled, 'samples'> {
  readonly engine: string;
  /** Of closing all months that are over. */
  readonly closeSeconds: number;
  readonly sizes: readonly TableSize[];
  readonly asked: Asked;
}

const show = (value: number, digits = 0) =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits });

const showTimes = ({ p50Ms, p99Ms }: Summary) => `${show(p50Ms, 2)}, ${show(p99Ms, 2)}`;

export function describeBooks(size: FleetSize, results: readonly EngineResult[]): string {
  const { entries, accounts, keys, days } = size;
  return [
    `${show(entries)} entries of ${days} days, ${show(accounts)} accounts, ${show(keys)} keys.`,
    describeFilling(size, results),
    ...results.map((result) => describeSizes(size, result)),
    describeQuestions(results),
  ].join('\n\n');
}

function describeFilling({ entries }: FleetSize, results: readonly EngineResult[]): string {
  const lines = results.map(
    ({ engine, seconds, closeSeconds, rowsPerSecond, residentBytesMax }) => {
      const speeds = [entries / seconds, rowsPerSecond[0] ?? 0, rowsPerSecond.at(-1) ?? 0];
      const cells = [...speeds, seconds, closeSeconds, residentBytesMax / MB].map((value) =>
        show(value),
      );
      return `| ${[engine, ...cells].join(' | ')} |`;
    },
  );
  return [
    '| filled | rows/s | first tenth | last tenth | seconds | months closed, s | RSS MB |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...lines,
  ].join('\n');
}

function describeQuestions(results: readonly EngineResult[]): string {
  const names = results[0]?.asked.times.map(({ name }) => name) ?? [];
  const heads = results.map(({ engine }) => `${engine}: p50, p99 ms | the first time`);
  const lines = names.map((name, at) => {
    const cells = results.map(({ asked }) => {
      const times = asked.times[at];
      if (times === undefined) return ' | ';
      return `${showTimes(times.again)} | ${showTimes(times.first)}`;
    });
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  const memory = results.map(({ asked }) => `${show(asked.residentBytesMax / MB)} MB | `);
  return [
    `| question | ${heads.join(' | ')} |`,
    `|---|${results.map(() => '--:|--:|').join('')}`,
    ...lines,
    `| memory of the process | ${memory.join(' | ')} |`,
  ].join('\n');
}

function describeSizes({ entries }: FleetSize, { engine, sizes }: EngineResult): string {
  const all = sizes.reduce((sum, { bytes, indexBytes }) => sum + bytes + indexBytes, 0);
  const shown = sizes.filter(({ bytes, indexBytes }) => bytes + indexBytes > all * SHOWN_SHARE);
  const lines = shown.map(({ table, rows, bytes, indexBytes }) => {
    const cells = [show(rows), show(bytes / MB, 1), show(indexBytes / MB, 1)];
    return `| ${[table, ...cells, show((bytes + indexBytes) / entries, 1)].join(' | ')} |`;
  });
  return [
    `| ${engine} | rows | MB | indexes MB | B an entry |`,
    '|---|--:|--:|--:|--:|',
    ...lines,
    `| all | | ${show(all / MB, 1)} | | ${show(all / entries, 1)} |`,
  ].join('\n');
}
