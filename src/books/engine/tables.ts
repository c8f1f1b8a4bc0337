import type { AuditRow } from './audit-row.ts';
import type { ClosedMonthRow } from './months.ts';

/**
 * The tables of the books. Amounts are whole micro-credits, times are milliseconds since the epoch,
 * `hour` and `day` count from the epoch. What is unknown is null in an entry and '' in the key of a
 * rollup.
 */

/** One event of a request that changed a balance or ended a hold; `entries_<day>`. */
export interface EntryRow {
  /** Together with `seq` the id of the entry in the stream of its bucket. */
  readonly ms: number;
  readonly bucket: number;
  readonly seq: number;
  readonly kind: EntryKind;
  readonly request: string;
  readonly account: string;
  readonly group: string | null;
  readonly key: string;
  readonly end_user: string | null;
  readonly model: string;
  /** The month that pays, `yyyymm`: that of the admission. */
  readonly month: string;
  /** The last one that was tried. */
  readonly upstream: string | null;
  readonly status: number | null;
  readonly outcome: string | null;
  readonly refusal: string | null;
  readonly streamed: 0 | 1 | null;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly thinking: number;
  readonly searches: number;
  /** 1 if the gateway counted the usage, null if there was none. */
  readonly estimated: 0 | 1 | null;
  /** For a late entry, which holds nothing: what was charged when the hold ran out. */
  readonly held: number;
  readonly charged: number;
  readonly short: number;
  readonly balance: number;
  /** What the vendor charges; null where the settings have no cost. */
  readonly cost: number | null;
  readonly started_ms: number | null;
  readonly first_ms: number | null;
  readonly total_ms: number | null;
  /** Everything that was packed about the request, usage and all. */
  readonly details: Buffer | null;
}

/** `refused` is a sample: such a request was never admitted, and no ledger knows it. */
export type EntryKind = 'charge' | 'release' | 'late' | 'orphan' | 'expired' | 'refused';

/** What rollups add up. */
export interface Sums {
  /** All rows; `requests` are those that are not late. */
  readonly entries: number;
  readonly requests: number;
  readonly failed: number;
  readonly estimated: number;
  readonly charged: number;
  readonly short: number;
  readonly cost: number;
  /** What was charged where a cost is known; for a late entry, that of the request as a whole. */
  readonly charged_with_cost: number;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly thinking: number;
  readonly searches: number;
}

export const SUM_COLUMNS = [
  'entries',
  'requests',
  'failed',
  'estimated',
  'charged',
  'short',
  'cost',
  'charged_with_cost',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'thinking',
  'searches',
] as const satisfies readonly (keyof Sums)[];

interface UsageKey {
  readonly account: string;
  readonly group: string;
  readonly key: string;
  readonly model: string;
  readonly upstream: string;
}

export interface UsageHourRow extends UsageKey, Sums {
  readonly hour: number;
}

export interface UsageDayRow extends UsageKey, Sums {
  readonly day: number;
}

/** Usage of a closed month: see `close-month.ts`. */
interface UsageMonthRow extends UsageKey, Sums {
  /** The month in which the entries were entered, `yyyymm`. */
  readonly month: string;
}

export interface AccountDayRow extends Sums {
  readonly day: number;
  readonly account: string;
}

export interface FleetHourRow extends Sums {
  readonly hour: number;
  readonly model: string;
  readonly upstream: string;
}

/** Totals since the first entry, for `verify`. */
export interface AccountTotalRow {
  readonly account: string;
  readonly bucket: number;
  readonly entries: number;
  readonly charged: number;
  /** What was paid in, less what was taken back. */
  readonly paid: number;
}

export interface KeyMonthRow {
  readonly account: string;
  readonly key: string;
  readonly month: string;
  readonly bucket: number;
  readonly charged: number;
}

export interface PaymentRow {
  readonly ms: number;
  readonly bucket: number;
  readonly seq: number;
  readonly kind: 'topup' | 'refund' | 'adjustment';
  readonly payment: string;
  readonly account: string;
  /** Above 0 if it was paid in. */
  readonly amount: number;
  readonly balance: number;
  readonly note: string | null;
}

/** Names for answers, and for searches; the record itself is in Redis. */
export interface AccountNameRow {
  readonly account: string;
  readonly bucket: number;
  readonly name: string;
  readonly plan: string;
  readonly status: string;
  readonly created_ms: number;
}

export interface KeyNameRow {
  readonly key: string;
  readonly account: string;
  readonly name: string;
  readonly last4: string;
  readonly status: string;
}

/** A word of an account's name, in lower case. */
interface WordRow {
  readonly word: string;
  readonly account: string;
}

export interface RefusalRow {
  readonly minute: number;
  /** The run of the worker that counted; its next count of the minute replaces this one. */
  readonly source: string;
  readonly account: string;
  readonly key: string;
  readonly model: string;
  readonly refusal: string;
  readonly count: number;
}

/** What Redis had trimmed before it was read. */
export interface GapRow {
  readonly bucket: number;
  readonly after: string;
  readonly until: string;
  readonly noted_ms: number;
}

/** An entry that could not be decoded; its bytes are kept. */
export interface DamagedRow {
  readonly bucket: number;
  readonly ms: number;
  readonly seq: number;
  /** The fields of the stream, packed. */
  readonly fields: Buffer;
  readonly noted_ms: number;
}

/** An entry that was entered although the books have its event under another id. */
export interface RepeatRow {
  readonly bucket: number;
  readonly ms: number;
  readonly seq: number;
  readonly account: string;
  readonly request: string;
  readonly kind: string;
  readonly charged: number;
  /**
   * `replaced`: Redis had lost the other one, which does not count. `second`: both were charged.
   */
  readonly fate: 'replaced' | 'second';
  readonly noted_ms: number;
}

/**
 * An entry that may repeat one that only the archive has. It is in no other table, and does not
 * count, until it has been compared with the archive.
 */
export interface DoubtfulRow extends EntryRow {
  /** The first day whose archive may have it. */
  readonly since_day: number;
}

/** Such an entry that an earlier version has entered, and that counts. */
export interface UncheckedRow extends Omit<RepeatRow, 'charged' | 'fate' | 'noted_ms'> {
  /** The day whose archive has to be compared with it. */
  readonly day: number;
}

/**
 *   open ──archived and verified──▶ archived ──table dropped──▶ dropped ──late rows──▶ open
 *
 * An open day with an archive has only what came after it was dropped; any other table is whole.
 */
export interface DayRow {
  readonly day: number;
  readonly state: 'open' | 'archived' | 'dropped';
  /** JSON of sums, when somebody has compared them with the entries. */
  readonly verified: string | null;
  /** JSON: the manifest of its archive. */
  readonly archive: string | null;
  /** Which indexes the table has: `INDEXES_VERSION`, or null if an earlier version made it. */
  readonly indexes: number | null;
}

/** One row: how far the streams are in the books. */
export interface IngestionRow {
  readonly id: 1;
  /** The id of these books, so that no node continues in others by mistake. */
  readonly books: string;
  /** Rises with each batch: of two nodes that write at once, one fails. */
  readonly version: number;
  /** JSON: bucket to the id of the last entry. */
  readonly cursors: string;
  readonly audit_cursor: string;
}

export interface BooksTables {
  usage_hours: UsageHourRow;
  usage_days: UsageDayRow;
  usage_months: UsageMonthRow;
  closed_months: ClosedMonthRow;
  account_days: AccountDayRow;
  fleet_hours: FleetHourRow;
  account_totals: AccountTotalRow;
  key_months: KeyMonthRow;
  payments: PaymentRow;
  audit: AuditRow;
  account_names: AccountNameRow;
  key_names: KeyNameRow;
  words: WordRow;
  refusals: RefusalRow;
  gaps: GapRow;
  repeats: RepeatRow;
  doubtful: DoubtfulRow;
  unchecked: UncheckedRow;
  damaged: DamagedRow;
  days: DayRow;
  ingestion: IngestionRow;
  facts: { readonly name: string; readonly value: string };
  migrations: { readonly number: number; readonly applied_ms: number };
  /** Stands for every `entries_<day>`: see `entriesOf` in `days.ts`. */
  entries: EntryRow;
}
