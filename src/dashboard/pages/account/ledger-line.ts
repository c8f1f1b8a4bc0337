/** An entry as the node streams it. Amounts are whole micro-credits. */
export interface LedgerEntry {
  readonly bucket: number;
  readonly id: string;
  readonly time: string;
  readonly kind: string;
  /** The id of the request or of the payment. */
  readonly request: string;
  readonly account: string;
  readonly key: string | null;
  readonly model: string | null;
  readonly month: string | null;
  readonly held_micros: number;
  readonly charged_micros: number;
  readonly short_micros: number;
  readonly balance_micros: number;
  readonly usage: Readonly<Record<string, number | boolean>> | null;
  readonly note: string | null;
}

/** Returns undefined if the line says that other lines are missing. */
export function parseLedgerLine(line: string): LedgerEntry | undefined {
  const parsed = JSON.parse(line) as LedgerEntry | { readonly incomplete: object };
  return 'incomplete' in parsed ? undefined : parsed;
}

/** Sorts the newest first. Entries of the same millisecond differ in the number after it. */
export function sortEntries(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const placeOf = ({ id }: LedgerEntry) => id.split('-').map(Number);
  return entries.toSorted((one, other) => {
    const [oneMs = 0, oneIndex = 0] = placeOf(one);
    const [otherMs = 0, otherIndex = 0] = placeOf(other);
    return otherMs - oneMs || otherIndex - oneIndex;
  });
}

export function isPayment({ key }: LedgerEntry): boolean {
  return key === null;
}

const COLUMNS = [
  ...(['bucket', 'id', 'time', 'kind', 'request', 'account', 'key', 'model', 'month'] as const),
  ...(['held_micros', 'charged_micros', 'short_micros', 'balance_micros', 'note'] as const),
] satisfies readonly (keyof LedgerEntry)[];
const USAGE_COLUMNS = [
  ...['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'thinking', 'estimated'],
  'searches',
];

/** The columns are those of `tollgate ledger export --format csv`. */
export const CSV_HEAD = [...COLUMNS, ...USAGE_COLUMNS].join(',');

export function encodeCsvLine(entry: LedgerEntry): string {
  const values = [
    ...COLUMNS.map((column) => entry[column]),
    ...USAGE_COLUMNS.map((column) => entry.usage?.[column] ?? null),
  ];
  return values.map(encodeField).join(',');
}

/** Matches a text that a spreadsheet would take for a formula, also in its full-width forms. */
const FORMULA_START = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/;

/**
 * Writes numbers unchanged. A text that would be a formula gets a quote in front, which makes it
 * text.
 */
function encodeField(value: string | number | boolean | null): string {
  const isFormula = typeof value === 'string' && FORMULA_START.test(value);
  const text = `${isFormula ? "'" : ''}${value ?? ''}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
