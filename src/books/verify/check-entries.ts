import { sql } from 'kysely';
import { HOUR_MS } from '../../lib/units/time-units.ts';
import type { BooksTransaction } from '../engine/books.ts';
import { entriesOf, hourOfMs, msOfDay, nameDay } from '../engine/days.ts';
import { compareSums, entriesSide, rollupSide, USAGE_KEYS } from './compare-sums.ts';
import type { SumDrift } from './ledger-report.ts';

const HOURS_OF_DAY = 24;
/** A prime; twice as many bits are exact in SQL. */
const CHECKSUM_MODULUS = 2_147_483_647;

/** What stays of the entries of a day when they have been read. Amounts are micros. */
export interface EntrySums {
  /** Includes samples of refused requests. */
  readonly rows: number;
  readonly held: number;
  readonly charged: number;
  readonly short: number;
  /** Over the places and charges of all rows, in whatever order. */
  readonly checksum: number;
  /** How many holds ran out. */
  readonly expired: number;
}

const NO_SUMS: EntrySums = { rows: 0, held: 0, charged: 0, short: 0, checksum: 0, expired: 0 };

const PLACE = `((ms % ${CHECKSUM_MODULUS}) * 31 + bucket * 1009 + seq * 100003) % ${CHECKSUM_MODULUS}`;
const CHECKSUM_OF_ROW = `((${PLACE}) * (abs(charged) % 1000003 + 1)) % ${CHECKSUM_MODULUS}`;

interface EntriesCheck {
  readonly sums: EntrySums;
  /** Rows of `usage_hours` that differ from the entries. */
  readonly drifts: readonly SumDrift[];
}

/** Reads the entries of a day, an hour at a time, which bounds what the engine sorts in memory. */
export async function checkEntries(
  tx: BooksTransaction,
  day: number,
  onHour: (hour: number) => void,
): Promise<EntriesCheck> {
  let sums = NO_SUMS;
  const drifts: SumDrift[] = [];
  const first = hourOfMs(msOfDay(day));
  for (let hour = first; hour < first + HOURS_OF_DAY; hour++) {
    onHour(hour - first);
    const ofHour = `ms >= ${hour * HOUR_MS} and ms < ${(hour + 1) * HOUR_MS}`;
    sums = addSums(sums, await sumHour(tx, day, ofHour));
    const hours = rollupSide('usage_hours', sql`hour = ${hour}`, USAGE_KEYS);
    drifts.push(
      ...(await compareSums(tx, nameDay(day), hours, entriesSide(entriesOf(day), sql.raw(ofHour)))),
    );
  }
  return { sums, drifts };
}

async function sumHour(tx: BooksTransaction, day: number, ofHour: string): Promise<EntrySums> {
  const { rows } = await sql<EntrySums>`
    select count(*) as rows, coalesce(sum(held), 0) as held, coalesce(sum(charged), 0) as charged,
      coalesce(sum(short), 0) as short,
      coalesce(sum(${sql.raw(CHECKSUM_OF_ROW)}), 0) % ${sql.lit(CHECKSUM_MODULUS)} as checksum,
      coalesce(sum(case when kind = 'expired' then 1 else 0 end), 0) as expired
    from ${sql.table(entriesOf(day))} where ${sql.raw(ofHour)}`.execute(tx);
  return rows[0] ?? NO_SUMS;
}

function addSums(sums: EntrySums, more: EntrySums): EntrySums {
  return {
    rows: sums.rows + more.rows,
    held: sums.held + more.held,
    charged: sums.charged + more.charged,
    short: sums.short + more.short,
    checksum: (sums.checksum + more.checksum) % CHECKSUM_MODULUS,
    expired: sums.expired + more.expired,
  };
}
