import type { Engine } from './books.ts';

/** The words in which the two engines differ. */
interface Words {
  readonly text: string;
  readonly int: string;
  readonly bytes: string;
  /** Ends a table whose rows stand in the order of its primary key. */
  readonly end: string;
}

const WORDS: Readonly<Record<Engine, Words>> = {
  libsql: { text: 'text', int: 'integer', bytes: 'blob', end: ') without rowid' },
  // Both engines then sort texts alike, by bytes.
  postgres: { text: 'text collate "C"', int: 'bigint', bytes: 'bytea', end: ')' },
};

const SUMS = [
  'entries requests failed estimated charged short cost charged_with_cost',
  'input cache_read cache_write_5m cache_write_1h output thinking searches',
]
  .join(' ')
  .split(' ')
  .map((name) => `${name} INT not null`)
  .join(', ');

const USAGE_KEY =
  'account TEXT not null, "group" TEXT not null, "key" TEXT not null, model TEXT not null, upstream TEXT not null';

/** What is in the table of one day. */
const ENTRY_COLUMNS =
  'ms INT not null, held INT not null, charged INT not null, short INT not null, balance INT not null, cost INT, started_ms INT, first_ms INT, total_ms INT, input INT not null, cache_read INT not null, cache_write_5m INT not null, cache_write_1h INT not null, output INT not null, thinking INT not null, searches INT not null, bucket INT not null, seq INT not null, status INT, streamed INT, estimated INT, kind TEXT not null, request TEXT not null, account TEXT not null, "group" TEXT, "key" TEXT not null, end_user TEXT, model TEXT not null, month TEXT not null, upstream TEXT, outcome TEXT, refusal TEXT, details BYTES';

/** In the order in which every installation carries them out. */
export const MIGRATIONS: readonly { readonly number: number; readonly statements: string[] }[] = [
  {
    number: 1,
    statements: [
      `create table usage_hours (hour INT not null, ${USAGE_KEY}, ${SUMS}, primary key (hour, account, "key", model, upstream, "group") END`,
      `create table usage_days (day INT not null, ${USAGE_KEY}, ${SUMS}, primary key (day, account, "key", model, upstream, "group") END`,
      `create table account_days (day INT not null, account TEXT not null, ${SUMS}, primary key (day, account) END`,
      'create index account_days_of on account_days (account, day)',
      `create table fleet_hours (hour INT not null, model TEXT not null, upstream TEXT not null, ${SUMS}, primary key (hour, model, upstream) END`,
      `create table account_totals (account TEXT not null primary key, bucket INT not null, entries INT not null, charged INT not null, paid INT not null END`,
      'create index account_totals_of on account_totals (bucket)',
      `create table key_months (account TEXT not null, "key" TEXT not null, month TEXT not null, bucket INT not null, charged INT not null, primary key (account, "key", month) END`,
      `create table payments (ms INT not null, bucket INT not null, seq INT not null, kind TEXT not null, payment TEXT not null, account TEXT not null, amount INT not null, balance INT not null, note TEXT, primary key (account, payment, kind) END`,
      'create index payments_of on payments (account, ms)',
      'create index payments_at on payments (ms)',
      `create table audit (entry TEXT not null primary key, ms INT not null, seq INT not null, what TEXT not null, via TEXT not null, token TEXT, address TEXT, node TEXT not null, account TEXT, "key" TEXT, outcome TEXT not null, before TEXT, after TEXT END`,
      'create index audit_at on audit (ms, seq)',
      'create index audit_of_account on audit (account, ms, seq)',
      'create index audit_of_key on audit ("key", ms, seq)',
      `create table account_names (account TEXT not null primary key, bucket INT not null, name TEXT not null, plan TEXT not null, status TEXT not null, created_ms INT not null END`,
      `create table key_names ("key" TEXT not null primary key, account TEXT not null, name TEXT not null, last4 TEXT not null, status TEXT not null END`,
      'create index key_names_of on key_names (account)',
      `create table words (word TEXT not null, account TEXT not null, primary key (word, account) END`,
      'create index words_of on words (account)',
      `create table refusals (minute INT not null, source TEXT not null, account TEXT not null, "key" TEXT not null, model TEXT not null, refusal TEXT not null, count INT not null, primary key (minute, account, "key", model, refusal, source) END`,
      `create table gaps (bucket INT not null, "after" TEXT not null, "until" TEXT not null, noted_ms INT not null, primary key (bucket, "after", "until") END`,
      `create table repeats (bucket INT not null, ms INT not null, seq INT not null, account TEXT not null, request TEXT not null, kind TEXT not null, charged INT not null, fate TEXT not null, noted_ms INT not null, primary key (bucket, ms, seq, request) END`,
      `create table damaged (bucket INT not null, ms INT not null, seq INT not null, fields BYTES not null, noted_ms INT not null, primary key (bucket, ms, seq) END`,
      `create table days (day INT not null primary key, state TEXT not null, verified TEXT, archive TEXT END`,
      `create table ingestion (id INT not null primary key, books TEXT not null, version INT not null, cursors TEXT not null, audit_cursor TEXT not null END`,
      `create table facts (name TEXT not null primary key, value TEXT not null END`,
    ],
  },
  {
    number: 2,
    statements: [
      'alter table audit add column operator TEXT',
      'alter table audit add column operator_name TEXT',
    ],
  },
  {
    number: 3,
    statements: [
      `create table unchecked (day INT not null, ms INT not null, bucket INT not null, seq INT not null, request TEXT not null, kind TEXT not null, account TEXT not null, primary key (day, ms, bucket, seq, request) END`,
    ],
  },
  {
    number: 4,
    statements: [
      // Tables of the version before get their indexes later, one day at a time.
      'alter table days add column indexes INT',
      `create table doubtful (since_day INT not null, ${ENTRY_COLUMNS}, primary key (ms, bucket, seq, request, kind, account) END`,
    ],
  },
  {
    number: 5,
    statements: [
      `create table usage_months (month TEXT not null, ${USAGE_KEY}, ${SUMS}, primary key (month, account, "key", model, upstream, "group") END`,
      'create table closed_months (month TEXT not null primary key, closing TEXT not null, sums TEXT, verified_ms INT END',
    ],
  },
];

/** The version of the indexes of a day's table: see `days.indexes`. */
export const INDEXES_VERSION = 5;

/** The table of one day: queries get its name from `entriesOf`. */
const ENTRIES = [
  `create table if not exists TABLE (${ENTRY_COLUMNS}, primary key (ms, bucket, seq) END`,
  // One event is one row, whatever id it has; receipts are found by it too.
  'create unique index if not exists TABLE_event on TABLE (request, kind, account)',
  // In the order of time, since an account has one bucket. Keys and models are in it so that
  // searches need not read rows of the table: each is a page of the disk.
  'create index if not exists TABLE_of_account on TABLE (account, ms, seq, "key", model)',
  `create index if not exists TABLE_failed on TABLE (ms) where outcome <> 'complete'`,
  `create index if not exists TABLE_failures_of on TABLE (account, ms, seq, status) where outcome <> 'complete'`,
  // These find rare rows without reading all the others.
  'create index if not exists TABLE_charged on TABLE (charged)',
  'create index if not exists TABLE_took on TABLE (total_ms)',
];

/** Earlier versions had them. */
const ENTRIES_BEFORE = [
  'drop index if exists TABLE_account',
  'drop index if exists TABLE_account_of',
  'drop index if exists TABLE_failed_of',
];

export function statementsOf(engine: Engine, statements: readonly string[]): string[] {
  const { text, int, bytes, end } = WORDS[engine];
  return statements.map((statement) =>
    statement
      .replaceAll(/\bTEXT\b/g, text)
      .replaceAll(/\bINT\b/g, int)
      .replaceAll(/\bBYTES\b/g, bytes)
      .replace(/ END$/, end),
  );
}

/** Makes the table of a day with its indexes, or whatever of them is missing. */
export function entriesStatements(engine: Engine, table: string): string[] {
  return statementsOf(
    engine,
    [...ENTRIES, ...ENTRIES_BEFORE].map((statement) => statement.replaceAll('TABLE', table)),
  );
}
