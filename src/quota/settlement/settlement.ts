import { unpack } from 'msgpackr';
import type { Usage } from '../../protocol/inference.ts';
import type { RequestDetails } from '../../protocol/request-details.ts';
import { type PackedDetails, packDetails, unpackDetails } from './pack-details.ts';
import { PackWriter } from './pack-writer.ts';

/** An admitted request, and who pays for it. */
export interface AdmittedRequest {
  readonly bucket: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly requestId: string;
  /** The month of the admission: `yyyymm`. */
  readonly month: string;
  readonly model: string;
  /** What the request counts in lists of limits, as the store reported it; empty if nothing. */
  readonly extras: string;
}

/** What a request cost: everything that settling needs, wherever and whenever it happens. */
export interface Settlement extends AdmittedRequest {
  readonly actualMicros: number;
  /**
   * When Redis last knew of the request, by the clock of Redis. Without a hold: when it was first
   * settled.
   */
  readonly lastKnownMs: number;
  /** Packed by `encodeLedgerUsage`. */
  readonly usage: Buffer;
}

/** What the ledger keeps of a usage. */
export interface LedgerUsage {
  /** Undefined where a lease ran out and nobody was left to report one. */
  readonly usage: Usage | undefined;
  /** The gateway counted the usage, because the upstream did not report it. */
  readonly isEstimated: boolean | undefined;
  /** Undefined in entries written before version 2. */
  readonly details: RequestDetails | undefined;
  /** Whose limits the request counts in, besides those of its key and its account. */
  readonly counted: { readonly groupId: string; readonly endUser: string } | undefined;
}

const SETTLEMENT_VERSION = 2;
/** Without extras. It is still written for requests that have none. */
const SETTLEMENT_VERSION_WITHOUT_EXTRAS = 1;
const USAGE_VERSION = 2;
const USAGE_VERSION_WITHOUT_DETAILS = 1;
/** Written by `scripts/sweep.lua`: group and end user alone. */
const VERSION_WITHOUT_USAGE = 3;

type PackedUsage = readonly [
  version: number,
  input: number,
  cacheRead: number,
  cacheWrite5m: number,
  cacheWrite1h: number,
  output: number,
  thinking: number,
  isEstimated: boolean,
  details?: PackedDetails,
  /** Absent if there were no searches, so that all versions can read most usages at once. */
  searches?: number,
  /** Group and end user with a comma between; absent if there is neither. */
  counted?: string,
];

type PackedWithoutUsage = readonly [version: number, counted: string];

type PackedSettlement = [
  version: number,
  bucket: number,
  accountId: string,
  keyId: string,
  requestId: string,
  month: string,
  model: string,
  actualMicros: number,
  lastKnownMs: number,
  usage: Uint8Array,
  extras?: string,
];

const writer = new PackWriter();

export function encodeSettlement(settlement: Settlement): Buffer {
  const hasExtras = settlement.extras !== '';
  writer.begin();
  writer.list(hasExtras ? 11 : 10);
  writer.number(hasExtras ? SETTLEMENT_VERSION : SETTLEMENT_VERSION_WITHOUT_EXTRAS);
  writer.number(settlement.bucket);
  writer.text(settlement.accountId);
  writer.text(settlement.keyId);
  writer.text(settlement.requestId);
  writer.text(settlement.month);
  writer.text(settlement.model);
  writer.number(settlement.actualMicros);
  writer.number(settlement.lastKnownMs);
  writer.bytes(settlement.usage);
  if (hasExtras) writer.text(settlement.extras);
  return writer.take();
}

/** Throws for bytes of another version: what a request cost must not be guessed. */
export function decodeSettlement(bytes: Uint8Array): Settlement {
  const packed = unpack(bytes) as PackedSettlement;
  const isKnown =
    Array.isArray(packed) &&
    (packed[0] === SETTLEMENT_VERSION || packed[0] === SETTLEMENT_VERSION_WITHOUT_EXTRAS);
  if (!isKnown) throw new Error(`not a settlement of version ${SETTLEMENT_VERSION} or before`);
  const [, bucket, accountId, keyId, requestId, month, model, ...rest] = packed;
  const [actualMicros, lastKnownMs, usage, extras = ''] = rest;
  const request = { bucket, accountId, keyId, requestId, month, model, extras };
  // A view would keep all the bytes around it in memory.
  return { ...request, actualMicros, lastKnownMs, usage: Buffer.from(usage) };
}

/** Everything that an operator needs to find the request in the ledger, or to enter it by hand. */
export function describeSettlement(settlement: Settlement): Readonly<Record<string, unknown>> {
  const { lastKnownMs, usage, ...rest } = settlement;
  const lastKnownAt = new Date(lastKnownMs).toISOString();
  return { ...rest, lastKnownAt, ...decodeLedgerUsage(usage) };
}

export function encodeLedgerUsage(
  usage: Usage,
  isEstimated: boolean,
  details: RequestDetails,
  extras = '',
): Buffer {
  const counted = readCounted(extras);
  const hasSearches = usage.searches > 0 || counted !== '';
  writer.begin();
  writer.list(9 + (hasSearches ? 1 : 0) + (counted === '' ? 0 : 1));
  writer.number(USAGE_VERSION);
  writer.number(usage.input);
  writer.number(usage.cacheRead);
  writer.number(usage.cacheWrite5m);
  writer.number(usage.cacheWrite1h);
  writer.number(usage.output);
  writer.number(usage.thinking);
  writer.flag(isEstimated);
  packDetails(writer, details);
  if (hasSearches) writer.number(usage.searches);
  if (counted !== '') writer.text(counted);
  return writer.take();
}

/**
 * Group and end user of an admission: `extras` begins with its moment, the group and the user. The
 * moment is empty if it counts in no list.
 */
function readCounted(extras: string): string {
  const [, groupId = '', endUser = ''] = extras.split(',', 3);
  return groupId === '' && endUser === '' ? '' : `${groupId},${endUser}`;
}

/** Undefined for an entry without a usage, and for an entry written by a later version. */
export function decodeLedgerUsage(packed: Uint8Array): LedgerUsage | undefined {
  if (packed.length === 0) return undefined;
  const fields = unpack(packed) as PackedUsage | PackedWithoutUsage;
  if (fields[0] === VERSION_WITHOUT_USAGE) return decodeWithoutUsage(fields as PackedWithoutUsage);
  const [
    version,
    input,
    cacheRead,
    cacheWrite5m,
    cacheWrite1h,
    output,
    thinking,
    isEstimated,
    details,
    searches = 0,
    counted = '',
  ] = fields as PackedUsage;
  if (version !== USAGE_VERSION && version !== USAGE_VERSION_WITHOUT_DETAILS) return undefined;
  return {
    counted: decodeCounted(counted),
    usage: { input, cacheRead, cacheWrite5m, cacheWrite1h, output, thinking, searches },
    isEstimated,
    details: details === undefined ? undefined : unpackDetails(details),
  };
}

function decodeWithoutUsage([, counted]: PackedWithoutUsage): LedgerUsage {
  const unknown = { usage: undefined, isEstimated: undefined, details: undefined };
  return { ...unknown, counted: decodeCounted(counted) };
}

function decodeCounted(counted: string): LedgerUsage['counted'] {
  const [groupId = '', endUser = ''] = counted.split(',');
  return counted === '' ? undefined : { groupId, endUser };
}
