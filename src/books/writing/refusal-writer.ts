import { createHash } from 'node:crypto';
import type { RefusalBatch, RefusalSeries, RefusedRequest } from '../../lib/refusal-batch.ts';
import { MINUTE_MS } from '../../lib/units/time-units.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf } from '../engine/days.ts';
import type { EntryRow, RefusalRow } from '../engine/tables.ts';
import { insertRows } from './insert-rows.ts';
import { openDaysOf } from './known-days.ts';

/** Counts that wait for the database; the oldest go first. */
const COUNTS_WAITING_MAX = 50_000;
const SAMPLES_WAITING_MAX = 2_000;
/** A worker reports a minute for this long after its end. */
const MINUTE_OPEN_MS = 180_000;
/**
 * The books learn of a new key within seconds. What is refused before that waits for its account.
 */
const ACCOUNT_WAIT_MAX_MS = 60_000;
/** Below are the buckets of accounts. */
const FIRST_BUCKET = 256;
/** Keys in one statement. */
const KEYS_AT_ONCE = 500;

/** Writes what the workers of this node have refused. Every node writes its own. */
export interface RefusalWriter {
  note(batch: RefusalBatch): void;
  /** Writes what has changed. What fails is written the next time. */
  write(): Promise<void>;
}

interface RefusalWriterOptions {
  readonly nodeId: string;
  readonly nowMs: () => number;
  /** Never goes back, as a clock may that is corrected. */
  readonly elapsedMs: () => number;
}

interface RefusalTotal extends RefusalSeries {
  readonly isWritten: boolean;
  /** The account under which it is written, from the first time on. */
  readonly account?: string | undefined;
}

/**
 * The whole count of a minute is written each time, under the name of this run, so a write may be
 * repeated.
 */
export function createRefusalWriter(
  books: Books,
  { nodeId, nowMs, elapsedMs }: RefusalWriterOptions,
): RefusalWriter {
  const source = `${nodeId}:${nowMs()}`;
  const bucket = FIRST_BUCKET + createHash('sha256').update(source).digest().readUInt32BE(0);
  const counts = new Map<string, RefusalTotal>();
  let samples: RefusedRequest[] = [];
  /** Keys that the books did not know, and since when they were asked without a failure. */
  let unknownSince: ReadonlyMap<string, number> = new Map();
  let lastSeq = 0;

  const dropOldest = () => {
    for (const [name, { minute, isWritten }] of counts) {
      const isOver = minute * MINUTE_MS < nowMs() - MINUTE_OPEN_MS;
      if ((isWritten && isOver) || counts.size > COUNTS_WAITING_MAX) counts.delete(name);
    }
  };

  const seekAccounts = async (refusals: readonly { readonly keyId: string }[]) => {
    const before = unknownSince;
    unknownSince = new Map();
    const accounts = await findAccounts(books, refusals);
    const unknown = refusals.filter(({ keyId }) => keyId !== '' && !accounts.has(keyId));
    unknownSince = new Map(unknown.map(({ keyId }) => [keyId, before.get(keyId) ?? elapsedMs()]));
    return accounts;
  };

  return {
    note({ counts: added, samples: seen }) {
      for (const { count, ...rest } of added) {
        const name = `${rest.minute} ${rest.keyId} ${rest.model} ${rest.refusal}`;
        const known = counts.get(name) ?? { ...rest, count: 0 };
        counts.set(name, { ...known, count: known.count + count, isWritten: false });
      }
      samples = [...samples, ...seen].slice(-SAMPLES_WAITING_MAX);
      dropOldest();
    },

    async write() {
      const unwritten = [...counts.values()].filter(({ isWritten }) => !isWritten);
      const sampled = samples;
      if (unwritten.length + sampled.length === 0) return;
      const accounts = await seekAccounts([...unwritten, ...sampled]);
      const isDue = ({ keyId }: { readonly keyId: string }) => {
        const sinceMs = unknownSince.get(keyId);
        return sinceMs === undefined || elapsedMs() - sinceMs >= ACCOUNT_WAIT_MAX_MS;
      };
      const changed = unwritten.filter((count) => count.account !== undefined || isDue(count));
      const chosen = sampled.filter(isDue);
      const accountOf = (keyId: string) => accounts.get(keyId) ?? '';
      const written = changed.map((counted) => {
        return { counted, account: counted.account ?? accountOf(counted.keyId) };
      });
      const first = lastSeq + 1;
      const entries = chosen.map((refused, i) =>
        encodeSample(refused, { bucket, seq: first + i, account: accountOf(refused.keyId) }),
      );
      const rows = written.map(({ counted, account }) => encodeCount(counted, source, account));
      await writeRows(books, rows, entries);
      lastSeq += chosen.length;
      const isChosen = new Set(chosen);
      samples = samples.filter((sample) => !isChosen.has(sample));
      for (const { counted, account } of written) markWritten(counts, counted, account);
      dropOldest();
    },
  };
}

/** It stays unwritten if its count has risen meanwhile: then it is another object. */
function markWritten(
  counts: Map<string, RefusalTotal>,
  counted: RefusalTotal,
  account: string,
): void {
  const name = `${counted.minute} ${counted.keyId} ${counted.model} ${counted.refusal}`;
  const known = counts.get(name);
  if (known !== undefined) counts.set(name, { ...known, account, isWritten: known === counted });
}

async function findAccounts(
  { db }: Books,
  refusals: readonly { readonly keyId: string }[],
): Promise<ReadonlyMap<string, string>> {
  const accounts = new Map<string, string>();
  const keys = [...new Set(refusals.map(({ keyId }) => keyId))].filter((key) => key !== '');
  for (let first = 0; first < keys.length; first += KEYS_AT_ONCE) {
    const found = await db
      .selectFrom('key_names')
      .select(['key', 'account'])
      .where('key', 'in', keys.slice(first, first + KEYS_AT_ONCE))
      .execute();
    for (const { key, account } of found) accounts.set(key, account);
  }
  return accounts;
}

async function writeRows(
  books: Books,
  rows: readonly RefusalRow[],
  entries: readonly EntryRow[],
): Promise<void> {
  await openDaysOf(books, { entries });
  await books.db.transaction().execute(async (tx) => {
    await insertRows(books.engine, tx, {
      columns: 'refusals',
      rows,
      onConflict:
        '(minute, account, "key", model, refusal, source) do update set "count" = excluded."count"',
      identity: ['minute', 'account', 'key', 'model', 'refusal', 'source'],
    });
    const days = new Set(entries.map(({ ms }) => dayOfMs(ms)));
    // In an order that all nodes share, so that they do not wait for each other in a circle.
    for (const day of [...days].sort((a, b) => a - b)) {
      await insertRows(books.engine, tx, {
        columns: 'entries',
        table: entriesOf(day),
        rows: entries.filter(({ ms }) => dayOfMs(ms) === day),
        onConflict: 'do nothing',
        identity: ['ms', 'bucket', 'seq'],
      });
      await forgetVerified(tx, day);
    }
  });
}

/** The rollups do not show that a day has more rows than it was verified with. */
async function forgetVerified(tx: BooksTransaction, day: number): Promise<void> {
  await tx
    .updateTable('days')
    .set({ verified: null })
    .where('day', '=', day)
    .where('verified', 'is not', null)
    .execute();
}

function encodeCount(
  { minute, keyId, model, refusal, count }: RefusalTotal,
  source: string,
  account: string,
): RefusalRow {
  return { minute, source, account, key: keyId, model, refusal, count };
}

function encodeSample(
  refused: RefusedRequest,
  place: { readonly bucket: number; readonly seq: number; readonly account: string },
): EntryRow {
  const { requestId, refusedMs, keyId, model, status, refusal, isStream, durationMs } = refused;
  return {
    ...{ ms: refusedMs, ...place, kind: 'refused', request: requestId, group: null, key: keyId },
    ...{
      end_user: null,
      model,
      month: new Date(refusedMs).toISOString().slice(0, 7).replace('-', ''),
    },
    ...{ upstream: null, status, outcome: 'refused', refusal, streamed: isStream ? 1 : 0 },
    ...{ input: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 0, thinking: 0 },
    ...{ searches: 0, estimated: null, held: 0, charged: 0, short: 0, balance: 0, cost: null },
    ...{ started_ms: refusedMs - durationMs, first_ms: null, total_ms: durationMs, details: null },
  };
}
