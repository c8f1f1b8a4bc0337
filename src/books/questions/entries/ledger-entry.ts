import type { EntryRow, PaymentRow } from '../../engine/tables.ts';

/**
 * One line of the ledger: an event that changed a balance or ended a hold. Money is exact, in
 * micro-credits.
 */
export interface LedgerEntry {
  readonly bucket: number;
  /** Unique within the bucket. */
  readonly id: string;
  /** The time in the id, by the clock of Redis: ISO 8601, UTC. */
  readonly time: string;
  readonly kind: string;
  /** The id of the request, or of the payment. */
  readonly request: string;
  readonly account: string;
  /** Null on payments, as are model and month. */
  readonly key: string | null;
  readonly model: string | null;
  /** The month that pays, `yyyymm`: that of the admission. */
  readonly month: string | null;
  readonly held_micros: number;
  /** What left the balance; negative on what was paid in. */
  readonly charged_micros: number;
  /** What it cost above what cap and balance allowed to charge. */
  readonly short_micros: number;
  /** The balance of the account afterwards. */
  readonly balance_micros: number;
  readonly usage: LedgerEntryUsage | null;
  readonly note: string | null;
  /**
   * Base64 of everything that was packed about the request. Null if that was no more than the
   * usage.
   */
  readonly details: string | null;
  readonly group: string | null;
  readonly end_user: string | null;
  readonly upstream: string | null;
  readonly status: number | null;
  readonly outcome: string | null;
  readonly refusal: string | null;
  readonly streamed: boolean | null;
  /** What the vendor charges; null where no cost is known. */
  readonly cost_micros: number | null;
  readonly started_at: string | null;
  readonly first_event_ms: number | null;
  readonly total_ms: number | null;
}

interface LedgerEntryUsage {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly thinking: number;
  readonly searches: number;
  /** Counted by the gateway, because the upstream did not say. */
  readonly estimated: boolean;
}

export function showEntry(row: EntryRow): LedgerEntry {
  const { kind, request, account, key, model, month } = row;
  const { group, end_user, upstream, status, outcome, refusal } = row;
  return {
    ...showPlace(row),
    ...{ kind, request, account, key, model, month },
    held_micros: row.held,
    charged_micros: row.charged,
    short_micros: row.short,
    balance_micros: row.balance,
    usage: row.estimated === null ? null : showUsage(row),
    note: null,
    details: showDetails(row),
    ...{ group, end_user, upstream, status, outcome, refusal },
    streamed: row.streamed === null ? null : row.streamed === 1,
    cost_micros: row.cost,
    started_at: row.started_ms === null ? null : new Date(row.started_ms).toISOString(),
    first_event_ms: row.first_ms,
    total_ms: row.total_ms,
  };
}

export function showPayment(row: PaymentRow): LedgerEntry {
  const { kind, payment, account, amount, balance, note } = row;
  return {
    ...showPlace(row),
    ...{ kind, request: payment, account, key: null, model: null, month: null },
    held_micros: 0,
    charged_micros: 0 - amount,
    short_micros: 0,
    balance_micros: balance,
    ...{ usage: null, note, details: null },
    ...{ group: null, end_user: null, upstream: null, status: null, outcome: null },
    ...{ refusal: null, streamed: null, cost_micros: null },
    ...{ started_at: null, first_event_ms: null, total_ms: null },
  };
}

/** First, since readers of some buckets pass over the others by what a line starts with. */
function showPlace({ bucket, ms, seq }: Pick<EntryRow, 'bucket' | 'ms' | 'seq'>) {
  return { bucket, id: `${ms}-${seq}`, time: new Date(ms).toISOString() };
}

function showUsage(row: EntryRow): LedgerEntryUsage {
  const { input, cache_read, cache_write_5m, cache_write_1h, output, thinking, searches } = row;
  return {
    ...{ input, cache_read, cache_write_5m, cache_write_1h, output, thinking, searches },
    estimated: row.estimated === 1,
  };
}

/** With a usage alone there is no outcome; what cannot be read is kept. */
function showDetails({ details, estimated, outcome }: EntryRow): string | null {
  if (details === null || (estimated !== null && outcome === null)) return null;
  return details.toString('base64');
}
