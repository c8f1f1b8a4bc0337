import { createHash } from 'node:crypto';
import { creditsOf } from '../../../lib/units/micros.ts';
import type { RequestDetails } from '../../../protocol/request-details.ts';
import { decodeLedgerUsage } from '../../../quota/settlement/settlement.ts';
import type { EntryRow } from '../../engine/tables.ts';
import type { FindName } from '../find-names.ts';
import type { FoundRequest, RunningRequest } from './find-request.ts';

const VERSION_CHARS = 12;

/** What became of one request, as operators see it. */
export function describeReceipt(
  requestId: string,
  found: Exclude<FoundRequest, { readonly kind: 'unknown' }>,
  nameOf: FindName,
): object {
  if (found.kind === 'running') return describeRunning(requestId, found.hold, nameOf);
  return describeEnded(requestId, found.entries, nameOf);
}

function describeRunning(id: string, hold: RunningRequest, nameOf: FindName) {
  const { account, key, model, month, heldMicros, seenMicros } = hold;
  const names = { account_name: nameOf(account), key_name: nameOf(key) };
  const amounts = { held: creditsOf(heldMicros), seen: creditsOf(seenMicros) };
  return { id, state: 'running', account, key, ...names, model, month, ...amounts };
}

function describeEnded(id: string, entries: readonly EntryRow[], nameOf: FindName) {
  const sum = (field: 'charged' | 'short') =>
    creditsOf(entries.reduce((total, entry) => total + entry[field], 0));
  // A request that is settled late holds nothing any more.
  const heldMicros = Math.max(0, ...entries.map(({ held }) => held));
  const last = entries.at(-1);
  const details = entries.map(detailsOf).findLast((found) => found !== undefined);
  const used = entries.findLast(({ estimated }) => estimated !== null);
  return {
    id,
    state: 'ended',
    account: last?.account ?? null,
    account_name: nameOf(last?.account ?? null),
    key: last?.key ?? null,
    key_name: nameOf(last?.key ?? null),
    masked_key: details?.maskedKey ?? null,
    model: last?.model ?? null,
    month: last?.month ?? null,
    kind: last?.kind ?? null,
    held: creditsOf(heldMicros),
    charged: sum('charged'),
    short: sum('short'),
    usage: used === undefined ? null : describeUsage(used),
    ...describeDetails(details),
    ...(last?.kind === 'refused' ? describeRefused(last) : describeLedger(entries)),
  };
}

function describeLedger(entries: readonly EntryRow[]) {
  const last = entries.at(-1);
  return {
    balance_after: last === undefined ? null : creditsOf(last.balance),
    ledger: entries.map(describeEntry),
  };
}

/** It was never admitted, so the ledger has nothing of it. */
function describeRefused({ status, refusal }: EntryRow) {
  return {
    balance_after: null,
    answered: { upstream: null, outcome: 'refused', status, refusal, usage_implausible: false },
    ledger: [],
  };
}

function detailsOf({ details }: EntryRow): RequestDetails | undefined {
  if (details === null) return undefined;
  try {
    return decodeLedgerUsage(details)?.details;
  } catch {
    // The amounts do not depend on them.
    return undefined;
  }
}

function describeUsage(entry: EntryRow) {
  const { input, cache_read, cache_write_5m, cache_write_1h, output, thinking, searches } = entry;
  return {
    ...{ input, cache_read, cache_write_5m, cache_write_1h, output, thinking, searches },
    estimated: entry.estimated === 1,
  };
}

/** All null if the worker died before it could report them. */
function describeDetails(details: RequestDetails | undefined) {
  if (details === undefined) {
    return {
      asked: null,
      config_version: null,
      catalogue_version: null,
      price: null,
      answered: null,
      tries: null,
      times: null,
    };
  }
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h, webSearch } = details.price;
  const price = {
    input,
    output,
    cache_read: cacheRead,
    cache_write_5m: cacheWrite5m,
    cache_write_1h: cacheWrite1h,
    ...(webSearch !== undefined && { web_search: webSearch }),
  };
  return {
    asked: {
      format: details.format,
      stream: details.isStream,
      body_bytes: details.bodyBytes,
      estimated_input_tokens: details.estimatedTokens,
      max_tokens: details.outputTokensMax,
    },
    config_version: details.configVersion,
    catalogue_version: details.catalogueVersion ?? null,
    price: { version: versionOf(price), ...price },
    answered: {
      upstream: details.tries.at(-1)?.upstream ?? null,
      outcome: details.outcome,
      status: details.status ?? null,
      refusal: details.refusal ?? null,
      usage_implausible: details.isUsageImplausible,
    },
    tries: details.tries,
    times: {
      started_at: new Date(details.startedMs).toISOString(),
      body_ms: details.bodyMs,
      admitted_ms: details.admittedMs,
      first_event_ms: details.firstEventMs ?? null,
      total_ms: details.totalMs,
      upstream_wait_ms: details.upstreamWaitMs,
      client_wait_ms: details.clientWaitMs,
    },
  };
}

/** Equal prices have equal versions, on every node. */
function versionOf(price: object): string {
  return createHash('sha256').update(JSON.stringify(price)).digest('hex').slice(0, VERSION_CHARS);
}

function describeEntry({ ms, seq, kind, held, charged, short, balance }: EntryRow) {
  return {
    id: `${ms}-${seq}`,
    time: new Date(ms).toISOString(),
    kind,
    held: creditsOf(held),
    charged: creditsOf(charged),
    short: creditsOf(short),
    balance: creditsOf(balance),
  };
}
