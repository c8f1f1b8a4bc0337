import { z } from 'zod';
import type { RequestDetails } from '../protocol/request-details.ts';
import { decodeLedgerUsage } from '../quota/settlement/settlement.ts';
import { isStreamId, msOfStreamId } from './stream-id.ts';

const micros = z.int();
const tokens = z.number().min(0);

const usageSchema = z.object({
  input: tokens,
  cache_read: tokens,
  cache_write_5m: tokens,
  cache_write_1h: tokens,
  output: tokens,
  thinking: tokens,
  /** Not in lines of versions that knew no searches. */
  searches: z.number().min(0).default(0),
  /** Counted by the gateway, because the upstream did not say. */
  estimated: z.boolean(),
});

const entrySchema = z.object({
  bucket: z.int().min(0),
  /** Unique within the bucket. */
  id: z.string().refine(isStreamId),
  /** Of the id, by the clock of Redis: ISO 8601, UTC. */
  time: z.string(),
  kind: z.enum(['charge', 'release', 'late', 'orphan', 'expired', 'topup', 'refund', 'adjustment']),
  /** The id of the request, or of the payment. */
  request: z.string(),
  account: z.string().min(1),
  /** Null on payments, as are model and month. */
  key: z.string().nullable(),
  model: z.string().nullable(),
  /** That pays, `yyyymm`: the one of the admission. */
  month: z.string().nullable(),
  held_micros: micros,
  /** What left the balance; negative on what was paid in. */
  charged_micros: micros,
  /** What it cost above what cap and balance allowed to charge. */
  short_micros: micros,
  /** Of the account, afterwards. */
  balance_micros: micros,
  usage: usageSchema.nullable(),
  note: z.string().nullable(),
  /**
   * Base64 of everything that was packed about the request. Null if that was no more than the
   * usage.
   */
  details: z.base64().nullable().default(null),
});

/**
 * One line of the ledger: an event that changed a balance or ended a hold. Money is exact, in
 * micro-credits.
 */
export type LedgerEntry = z.infer<typeof entrySchema>;

/** What every line starts with, so that readers of some buckets can pass over the others. */
const LINE_START = /^\{"bucket":(\d+),/;

const PAYMENT_KINDS: readonly string[] = ['topup', 'refund', 'adjustment'];

export function isPaymentKind(kind: string): boolean {
  return PAYMENT_KINDS.includes(kind);
}

const NO_BYTES = Buffer.alloc(0);
const NO_USAGE: Pick<LedgerEntry, 'usage' | 'details'> = { usage: null, details: null };

/** As XRANGE answers: names and values in turn. */
export type StreamFields = readonly Buffer[];

/** Throws when this is not what `quota/scripts/lua/money.lua` enters. */
export function decodeLedgerEntry(bucket: number, id: string, fields: StreamFields): LedgerEntry {
  const [entryName, entry = NO_BYTES, usageName, usage = NO_BYTES] = fields;
  if (String(entryName) !== 'entry' || String(usageName) !== 'usage') {
    throw new Error('it has other fields than an entry of the ledger');
  }
  const [kind = '', account, key, month, model, held, charged, short, balance, ...request] = entry
    .toString()
    .split('|');
  const isPayment = isPaymentKind(kind);
  return entrySchema.parse({
    bucket,
    id,
    time: new Date(msOfStreamId(id)).toISOString(),
    kind,
    request: request.join('|'),
    account,
    key: key || null,
    model: model || null,
    month: month || null,
    held_micros: parseMicros(held),
    charged_micros: parseMicros(charged),
    short_micros: parseMicros(short),
    balance_micros: parseMicros(balance),
    note: isPayment ? usage.toString() || null : null,
    ...(isPayment ? NO_USAGE : decodeUsage(usage)),
  });
}

/** Without the line's end, like what `parseLedgerLine` takes. */
export function encodeLedgerLine(entry: LedgerEntry): string {
  return JSON.stringify(entry);
}

/** Encodes an entry that cannot be decoded. Its bytes are kept, and readers report it. */
export function encodeDamagedLine(bucket: number, id: string, fields: StreamFields): string {
  return JSON.stringify({ bucket, id, damaged: fields.map((field) => field.toString('base64')) });
}

/** Throws when the line is damaged. */
export function parseLedgerLine(line: string): LedgerEntry {
  return entrySchema.parse(JSON.parse(line));
}

/** Undefined when the line is damaged at its very start. */
export function bucketOfLedgerLine(line: string): number | undefined {
  const match = LINE_START.exec(line);
  return match === null ? undefined : Number(match[1]);
}

function decodeUsage(packed: Uint8Array): typeof NO_USAGE {
  if (packed.length === 0) return NO_USAGE;
  // Kept as packed: lines are read far more often than these details, and a later version may know
  // more.
  const packedText = Buffer.from(packed).toString('base64');
  const decoded = decodeLedgerUsage(packed);
  if (decoded === undefined) return { usage: null, details: packedText };
  const { usage, isEstimated, details } = decoded;
  return {
    usage: {
      input: usage.input,
      cache_read: usage.cacheRead,
      cache_write_5m: usage.cacheWrite5m,
      cache_write_1h: usage.cacheWrite1h,
      output: usage.output,
      thinking: usage.thinking,
      searches: usage.searches,
      estimated: isEstimated,
    },
    details: details === undefined ? null : packedText,
  };
}

/** Other details of the request. Undefined if the entry has none. */
export function detailsOfEntry({ details }: LedgerEntry): RequestDetails | undefined {
  return details === null ? undefined : decodeLedgerUsage(Buffer.from(details, 'base64'))?.details;
}

/** An empty text would count as 0. */
function parseMicros(text = ''): number {
  return text === '' ? Number.NaN : Number(text);
}
