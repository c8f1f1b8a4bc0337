import type { FindCost } from '../../catalogue/find-cost.ts';
import { priceUsage } from '../../catalogue/price-usage.ts';
import { NO_USAGE } from '../../protocol/answers/no-usage.ts';
import { decodeLedgerUsage, type LedgerUsage } from '../../quota/settlement/settlement.ts';
import type { EntryKind, EntryRow, PaymentRow } from '../engine/tables.ts';
import { isStreamId, msOfStreamId, type StreamId, seqOfStreamId } from '../stream/stream-id.ts';

/** As XRANGE answers: names and values in turn. */
export type StreamFields = readonly Buffer[];

export type DecodedEntry =
  | { readonly is: 'entry'; readonly row: EntryRow }
  | { readonly is: 'payment'; readonly row: PaymentRow };

const KINDS: readonly string[] = ['charge', 'release', 'late', 'orphan', 'expired'];
const PAYMENT_KINDS: readonly string[] = ['topup', 'refund', 'adjustment'];
const NO_BYTES = Buffer.alloc(0);

/** Throws when this is not what `quota/scripts/lua/money.lua` enters. */
export function decodeEntry(
  bucket: number,
  id: StreamId,
  fields: StreamFields,
  findCost: FindCost,
): DecodedEntry {
  const [entryName, entry = NO_BYTES, usageName, usage = NO_BYTES] = fields;
  if (!isStreamId(id) || String(entryName) !== 'entry' || String(usageName) !== 'usage') {
    throw new Error('it has other fields than an entry of the ledger');
  }
  const [
    kind = '',
    account = '',
    key = '',
    month = '',
    model = '',
    held,
    charged,
    short,
    balance,
    ...rest
  ] = clean(entry).split('|');
  if (account === '') throw new Error('it belongs to no account');
  const place = { ms: msOfStreamId(id), bucket, seq: seqOfStreamId(id) };
  const request = rest.join('|');
  if (PAYMENT_KINDS.includes(kind)) {
    const amount = 0 - parseMicros(charged);
    const note = clean(usage) || null;
    const payment = { kind: kind as PaymentRow['kind'], payment: request, account, amount, note };
    return { is: 'payment', row: { ...place, ...payment, balance: parseMicros(balance) } };
  }
  if (!KINDS.includes(kind)) throw new Error(`${kind} is no kind of entry`);
  const amounts = {
    held: parseMicros(held),
    charged: parseMicros(charged),
    short: parseMicros(short),
    balance: parseMicros(balance),
  };
  const names = { kind: kind as EntryKind, request, account, key, model, month };
  return { is: 'entry', row: createRow(place, names, amounts, usage, findCost) };
}

/** One literal with a value for each column: spreading parts into it takes twice as long. */
function createRow(
  { ms, bucket, seq }: Pick<EntryRow, 'ms' | 'bucket' | 'seq'>,
  names: Pick<EntryRow, 'kind' | 'request' | 'account' | 'key' | 'model' | 'month'>,
  amounts: Pick<EntryRow, 'held' | 'charged' | 'short' | 'balance'>,
  packed: Buffer,
  findCost: FindCost,
): EntryRow {
  const found = packed.length === 0 ? undefined : decodeUsage(packed);
  const details = found?.details;
  const usage = found?.usage ?? NO_USAGE;
  const upstream = asText(details?.tries.at(-1)?.upstream);
  const cost = upstream === null ? undefined : findCost(upstream, names.model, usage);
  return {
    ms,
    bucket,
    seq,
    kind: names.kind,
    request: names.request,
    account: names.account,
    group: asText(found?.counted?.groupId || undefined),
    key: names.key,
    end_user: asText(found?.counted?.endUser || undefined),
    model: names.model,
    month: names.month,
    upstream,
    status: asCountIfAny(details?.status),
    outcome: asText(details?.outcome),
    refusal: asText(details?.refusal),
    streamed: asFlag(details?.isStream),
    input: asCount(usage.input),
    cache_read: asCount(usage.cacheRead),
    cache_write_5m: asCount(usage.cacheWrite5m),
    cache_write_1h: asCount(usage.cacheWrite1h),
    output: asCount(usage.output),
    thinking: asCount(usage.thinking),
    searches: asCount(usage.searches),
    estimated: asFlag(found?.isEstimated),
    held: names.kind === 'late' ? chargedBefore(found, amounts) : amounts.held,
    charged: amounts.charged,
    short: amounts.short,
    balance: amounts.balance,
    cost: cost ?? null,
    started_ms: asCountIfAny(details?.startedMs),
    first_ms: asCountIfAny(details?.firstEventMs),
    total_ms: asCountIfAny(details?.totalMs),
    details: packed.length === 0 ? null : packed,
  };
}

/**
 * What the request was charged when its hold ran out: its price, less what the late entry
 * charges. Redis does not say, and the entry of that time may be in the archive.
 */
function chargedBefore(
  found: LedgerUsage | undefined,
  { charged, short }: Pick<EntryRow, 'charged' | 'short'>,
): number {
  if (found?.usage === undefined || found.details === undefined) return 0;
  const before = priceUsage(found.usage, found.details.price) - charged - short;
  return Number.isSafeInteger(before) ? Math.max(before, 0) : 0;
}

/** What was charged counts, even if what it was for cannot be read. */
function decodeUsage(usage: Buffer): LedgerUsage | undefined {
  try {
    return decodeLedgerUsage(usage);
  } catch {
    return undefined;
  }
}

function asFlag(value: boolean | undefined): 0 | 1 | null {
  if (value === undefined) return null;
  return value ? 1 : 0;
}

function asText(value: string | undefined): string | null {
  if (typeof value !== 'string') return null;
  return value.includes('\0') ? value.replaceAll('\0', '') : value;
}

/** An upstream may report anything; what was charged for it stands beside it. */
function asCount(value: number): number {
  if (!(value > 0)) return 0;
  return Math.min(Math.round(value), Number.MAX_SAFE_INTEGER);
}

function asCountIfAny(value: number | undefined): number | null {
  return value === undefined ? null : asCount(value);
}

/** An empty text would count as 0. */
function parseMicros(text = ''): number {
  const micros = text === '' ? Number.NaN : Number(text);
  if (!Number.isSafeInteger(micros)) throw new Error(`${text} is no amount`);
  return micros;
}

/** Postgres takes no zero bytes in a text. */
function clean(bytes: Buffer): string {
  const text = bytes.toString();
  return text.includes('\0') ? text.replaceAll('\0', '') : text;
}
