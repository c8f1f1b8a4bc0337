/** One value of a row. Integers are exact: a number outside the safe range is a bigint. */
export type Cell = number | bigint | string | boolean | Uint8Array | null;

export type Row = Readonly<Record<string, Cell>>;

export type DayColumnType = 'integer' | 'text' | 'boolean' | 'bytes';

export interface DayColumn {
  readonly name: string;
  readonly type: DayColumnType;
}

/** One UTC day of entries, wherever they are kept. */
export interface DaySource {
  /** Days since the epoch. */
  readonly day: number;
  readonly columns: readonly DayColumn[];
  /**
   * All entries of the day in pages, in the order of ms, bucket, seq. Each call starts from the
   * beginning. Every row has every column. A boolean may also be 0 or 1.
   */
  rows(): AsyncIterable<readonly Row[]>;
}
