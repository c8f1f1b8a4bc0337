import { type BooksTables, SUM_COLUMNS } from '../engine/tables.ts';

export type ColumnType = 'int' | 'text' | 'bytes';
export type Columns<Row> = { readonly [Name in keyof Row]-?: ColumnType };

const SUMS = Object.fromEntries(SUM_COLUMNS.map((name) => [name, 'int'])) as {
  readonly [Name in (typeof SUM_COLUMNS)[number]]: 'int';
};
const USAGE_KEY = {
  account: 'text',
  group: 'text',
  key: 'text',
  model: 'text',
  upstream: 'text',
} as const;

const EVENT = { request: 'text', kind: 'text', account: 'text' } as const;

const ENTRY = {
  ms: 'int',
  bucket: 'int',
  seq: 'int',
  kind: 'text',
  request: 'text',
  account: 'text',
  group: 'text',
  key: 'text',
  end_user: 'text',
  model: 'text',
  month: 'text',
  upstream: 'text',
  status: 'int',
  outcome: 'text',
  refusal: 'text',
  streamed: 'int',
  input: 'int',
  cache_read: 'int',
  cache_write_5m: 'int',
  cache_write_1h: 'int',
  output: 'int',
  thinking: 'int',
  searches: 'int',
  estimated: 'int',
  held: 'int',
  charged: 'int',
  short: 'int',
  balance: 'int',
  cost: 'int',
  started_ms: 'int',
  first_ms: 'int',
  total_ms: 'int',
  details: 'bytes',
} as const;

/** The tables into which many rows are written at once. */
export const COLUMNS = {
  entries: ENTRY,
  doubtful: { since_day: 'int', ...ENTRY },
  usage_hours: { hour: 'int', ...USAGE_KEY, ...SUMS },
  usage_days: { day: 'int', ...USAGE_KEY, ...SUMS },
  account_days: { day: 'int', account: 'text', ...SUMS },
  fleet_hours: { hour: 'int', model: 'text', upstream: 'text', ...SUMS },
  account_totals: { account: 'text', bucket: 'int', entries: 'int', charged: 'int', paid: 'int' },
  key_months: { account: 'text', key: 'text', month: 'text', bucket: 'int', charged: 'int' },
  payments: {
    ms: 'int',
    bucket: 'int',
    seq: 'int',
    kind: 'text',
    payment: 'text',
    account: 'text',
    amount: 'int',
    balance: 'int',
    note: 'text',
  },
  refusals: {
    minute: 'int',
    source: 'text',
    account: 'text',
    key: 'text',
    model: 'text',
    refusal: 'text',
    count: 'int',
  },
  audit: {
    entry: 'text',
    ms: 'int',
    seq: 'int',
    what: 'text',
    via: 'text',
    operator: 'text',
    operator_name: 'text',
    token: 'text',
    address: 'text',
    node: 'text',
    account: 'text',
    key: 'text',
    outcome: 'text',
    before: 'text',
    after: 'text',
  },
  account_names: {
    account: 'text',
    bucket: 'int',
    name: 'text',
    plan: 'text',
    status: 'text',
    created_ms: 'int',
  },
  key_names: { key: 'text', account: 'text', name: 'text', last4: 'text', status: 'text' },
  words: { word: 'text', account: 'text' },
  gaps: { bucket: 'int', after: 'text', until: 'text', noted_ms: 'int' },
  repeats: {
    bucket: 'int',
    ms: 'int',
    seq: 'int',
    ...EVENT,
    charged: 'int',
    fate: 'text',
    noted_ms: 'int',
  },
  unchecked: { day: 'int', ms: 'int', bucket: 'int', seq: 'int', ...EVENT },
  damaged: { bucket: 'int', ms: 'int', seq: 'int', fields: 'bytes', noted_ms: 'int' },
  facts: { name: 'text', value: 'text' },
} as const satisfies { readonly [Table in keyof BooksTables]?: Columns<BooksTables[Table]> };

export type BulkTable = keyof typeof COLUMNS;
