import { dayOfMs, nameDay } from '../engine/days.ts';
import type { Row } from './day-source.ts';

/** The place of an entry in the order of all entries. */
export interface EntryPlace {
  readonly ms: number;
  readonly bucket: number;
  readonly seq: number;
}

/** What can be compared without comparing each row. Amounts are micro-credits. */
export interface DaySums {
  readonly rows: number;
  readonly held: bigint;
  readonly charged: bigint;
  readonly short: bigint;
  readonly first: EntryPlace | null;
  readonly last: EntryPlace | null;
}

export const NO_DAY_SUMS: DaySums = {
  rows: 0,
  held: 0n,
  charged: 0n,
  short: 0n,
  first: null,
  last: null,
};

/** Adds rows that follow the others. Throws unless they are in order and belong to the day. */
export function addRows(day: number, sums: DaySums, rows: readonly Row[]): DaySums {
  let { held, charged, short, first, last } = sums;
  for (const row of rows) {
    const place = placeOf(row);
    if (dayOfMs(place.ms) !== day) {
      throw new Error(`entry ${describe(place)} is not of ${nameDay(day)}`);
    }
    if (last !== null && comparePlaces(last, place) >= 0) {
      throw new Error(`entry ${describe(place)} comes after ${describe(last)}`);
    }
    first ??= place;
    last = place;
    held += amountOf(row, 'held');
    charged += amountOf(row, 'charged');
    short += amountOf(row, 'short');
  }
  return { rows: sums.rows + rows.length, held, charged, short, first, last };
}

/** The sums of two stretches of a day, the earlier one first. */
export function joinSums(earlier: DaySums, later: DaySums): DaySums {
  return {
    rows: earlier.rows + later.rows,
    held: earlier.held + later.held,
    charged: earlier.charged + later.charged,
    short: earlier.short + later.short,
    first: earlier.first ?? later.first,
    last: later.last ?? earlier.last,
  };
}

/** Describes the sums that differ; empty if all are equal. */
export function compareDaySums(expected: DaySums, found: DaySums): string[] {
  return (['rows', 'held', 'charged', 'short', 'first', 'last'] as const)
    .map((name) => ({ name, is: text(found[name]), instead: text(expected[name]) }))
    .filter(({ is, instead }) => is !== instead)
    .map(({ name, is, instead }) => `${name} is ${is}, not ${instead}`);
}

function text(value: DaySums[keyof DaySums]): string {
  return typeof value === 'object' && value !== null ? describe(value) : `${value}`;
}

function describe(place: EntryPlace): string {
  return `${place.ms}-${place.seq} of bucket ${place.bucket}`;
}

function comparePlaces(one: EntryPlace, other: EntryPlace): number {
  return one.ms - other.ms || one.bucket - other.bucket || one.seq - other.seq;
}

function placeOf(row: Row): EntryPlace {
  return { ms: Number(row['ms']), bucket: Number(row['bucket']), seq: Number(row['seq']) };
}

function amountOf(row: Row, name: string): bigint {
  const value = row[name];
  return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : 0n;
}
