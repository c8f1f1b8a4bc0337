import { type CsvValue, encodeCsvLine } from '../questions/encode-csv-line.ts';
import type { QueryResult, ResultCell } from './open-duckdb.ts';

export type ResultFormat = 'table' | 'csv' | 'jsonl';

/** The columns of a table are as wide as these first rows need. */
const MEASURED_ROWS = 1_000;
const GAP = '  ';

/** The answer as text, in pieces of whole lines. */
export async function* encodeResult(
  result: QueryResult,
  format: ResultFormat,
): AsyncGenerator<string, void, undefined> {
  if (format === 'table') yield* encodeTable(result);
  else if (format === 'csv') yield* encodeCsv(result);
  else yield* encodeJsonLines(result);
}

async function* encodeTable({
  columns,
  rows,
}: QueryResult): AsyncGenerator<string, void, undefined> {
  let waiting: string[][] | undefined = [[...columns]];
  let widths: number[] = [];
  const encode = (lines: readonly (readonly string[])[]) =>
    lines
      .map((line) => line.map((cell, index) => cell.padEnd(widths[index] ?? 0)))
      .map((line) => `${line.join(GAP).trimEnd()}\n`)
      .join('');
  const measure = (lines: readonly (readonly string[])[]) => {
    widths = columns.map((_, index) =>
      lines.reduce((width, line) => Math.max(width, line[index]?.length ?? 0), 0),
    );
  };
  for await (const page of rows) {
    const lines = page.map((row) => row.map((cell) => toText(cell).replaceAll(/\s/g, ' ')));
    if (waiting === undefined) {
      yield encode(lines);
      continue;
    }
    waiting.push(...lines);
    if (waiting.length <= MEASURED_ROWS) continue;
    measure(waiting);
    yield encode(waiting);
    waiting = undefined;
  }
  if (waiting === undefined) return;
  measure(waiting);
  yield encode(waiting);
}

async function* encodeCsv({ columns, rows }: QueryResult): AsyncGenerator<string, void, undefined> {
  const encode = (row: readonly ResultCell[]) => `${encodeCsvLine(row.map(toCsvValue))}\n`;
  yield encode(columns);
  for await (const page of rows) yield page.map(encode).join('');
}

function toCsvValue(cell: ResultCell): CsvValue {
  return typeof cell === 'object' ? toText(cell) : cell;
}

function toText(cell: ResultCell): string {
  if (cell === null) return '';
  return typeof cell === 'object' ? JSON.stringify(cell) : `${cell}`;
}

/** Integers keep all their digits, also where a reader in JavaScript would round them. */
async function* encodeJsonLines({
  columns,
  rows,
}: QueryResult): AsyncGenerator<string, void, undefined> {
  const names = columns.map((column) => `${JSON.stringify(column)}:`);
  const encode = (row: readonly ResultCell[]) =>
    row
      .map((cell, index) => {
        const value = typeof cell === 'bigint' ? cell.toString() : JSON.stringify(cell);
        return `${names[index]}${value}`;
      })
      .join(',');
  for await (const page of rows) yield page.map((row) => `{${encode(row)}}\n`).join('');
}
