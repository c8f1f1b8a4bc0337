import type { Cell, DaySource, Row } from '../../../src/books/archive/day-source.ts';
import { ENTRY_COLUMNS } from '../../../src/books/archive/entry-columns.ts';
import { msOfDay } from '../../../src/books/engine/days.ts';

/** 2026-11-23. */
export const DAY = 20_780;

/** A charge of the day, with what differs. */
export function rowOf(index: number, differing: Readonly<Record<string, Cell>> = {}): Row {
  const row: Record<string, Cell> = {
    ...Object.fromEntries(ENTRY_COLUMNS.map(({ name }) => [name, null])),
    ms: msOfDay(DAY) + Math.floor(index / 3),
    bucket: index % 3,
    seq: 0,
    kind: 'charge',
    request: `req_${index}`,
    account: `acct_${index % 7}`,
    key: `key_${index % 14}`,
    model: `model-${index % 5}`,
    month: '202611',
    status: 200,
    outcome: 'completed',
    streamed: 1,
    estimated: false,
    held: 2_000 + index,
    charged: 1_000 + index,
    short: index % 11,
    balance: 5_000_000,
    details: Buffer.from(`details of ${index}`),
    ...differing,
  };
  return row;
}

export function sourceOf(rows: readonly Row[], day = DAY): DaySource {
  return {
    day,
    columns: ENTRY_COLUMNS,
    rows: async function* () {
      for (let start = 0; start < rows.length; start += 100) yield rows.slice(start, start + 100);
    },
  };
}

export function rowsOf(count: number): Row[] {
  return Array.from({ length: count }, (_, index) => rowOf(index));
}
