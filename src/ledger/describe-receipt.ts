import { createHash } from 'node:crypto';
import { creditsOf } from '../lib/units/micros.ts';
import type { RequestDetails } from '../protocol/request-details.ts';
import type { FoundRequest, RunningRequest } from './find-request.ts';
import { detailsOfEntry, type LedgerEntry } from './ledger-entry.ts';

const VERSION_CHARS = 12;

/** What became of one request, as operators see it; undefined when it is not found. */
export function describeReceipt(requestId: string, found: FoundRequest): object | undefined {
  if (found.kind === 'running') return describeRunning(requestId, found.hold);
  return found.kind === 'ended' ? describeEnded(requestId, found.entries) : undefined;
}

function describeRunning(id: string, hold: RunningRequest) {
  const { account, key, model, month, heldMicros, seenMicros } = hold;
  const amounts = { held: creditsOf(heldMicros), seen: creditsOf(seenMicros) };
  return { id, state: 'running', account, key, model, month, ...amounts };
}

function describeEnded(id: string, entries: readonly LedgerEntry[]) {
  const sum = (field: 'charged_micros' | 'short_micros') =>
    creditsOf(entries.reduce((total, entry) => total + entry[field], 0));
  // What is settled late holds nothing any more.
  const heldMicros = Math.max(0, ...entries.map((entry) => entry.held_micros));
  const last = entries.at(-1);
  const details = entries.map(detailsOfEntry).findLast((found) => found !== undefined);
  const usage = entries.map((entry) => entry.usage).findLast((found) => found !== null);
  return {
    id,
    state: 'ended',
    account: last?.account ?? null,
    key: last?.key ?? null,
    masked_key: details?.maskedKey ?? null,
    model: last?.model ?? null,
    month: last?.month ?? null,
    kind: last?.kind ?? null,
    held: creditsOf(heldMicros),
    charged: sum('charged_micros'),
    short: sum('short_micros'),
    balance_after: last === undefined ? null : creditsOf(last.balance_micros),
    usage: usage ?? null,
    ...describeDetails(details),
    ledger: entries.map(describeEntry),
  };
}

/** All null where nobody was left to tell: the worker had died. */
function describeDetails(details: RequestDetails | undefined) {
  if (details === undefined) {
    return {
      asked: null,
      config_version: null,
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

function describeEntry(entry: LedgerEntry) {
  return {
    id: entry.id,
    time: entry.time,
    kind: entry.kind,
    held: creditsOf(entry.held_micros),
    charged: creditsOf(entry.charged_micros),
    short: creditsOf(entry.short_micros),
    balance: creditsOf(entry.balance_micros),
  };
}
