import { BUCKETS } from '../keys/bucket-tags.ts';
import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { readStreamSpan, type StreamSpan } from './audit-bucket.ts';
import { type Coverage, createCoverage } from './coverage.ts';
import { chooseDropped, createHeldEntries, eventOf, type HeldEntries } from './held-entries.ts';
import { decodeLedgerEntry, type LedgerEntry } from './ledger-entry.ts';
import {
  createLedgerFindings,
  type LedgerFindings,
  noteBucketGaps,
  noteDamage,
} from './ledger-findings.ts';
import {
  claimCoverage,
  type OpenedSegment,
  openSegments,
  readSegmentEntries,
} from './open-segments.ts';
import { readStreamPage, STREAM_PAGE_MAX, type StreamEntry } from './read-stream.ts';

/** Entries that one pass holds back, about 700 bytes each. */
const HELD_MAX = 300_000;

export interface LedgerPlace {
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  /** Folders of segments, one of each node. */
  readonly dirs: readonly string[];
}

/**
 * Divides the buckets so that a pass fits into memory: it holds the entries in Redis, and entries
 * that more than one folder may have. Every pass reads all segments. A bucket that is too large by
 * itself still gets one pass.
 */
export async function planPasses({ connection, dirs }: LedgerPlace): Promise<Set<number>[]> {
  let heldEntries = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    heldEntries += Number(await connection.send('xlen', [keysOfBucket(bucket).ledger]));
  }
  const entriesOfDir: number[] = [];
  for (const dir of dirs) {
    const segments = await openSegments([dir], createLedgerFindings());
    entriesOfDir.push(segments.reduce((sum, { header }) => sum + header.entries, 0));
  }
  // At worst the smaller folders have nothing that the largest has not.
  heldEntries += entriesOfDir.reduce((sum, entries) => sum + entries, 0);
  heldEntries -= Math.max(0, ...entriesOfDir);
  const passes = Math.min(BUCKETS, Math.max(1, Math.ceil(heldEntries / HELD_MAX)));
  return Array.from({ length: passes }, (_, pass) => bucketsOfPass(pass, passes));
}

interface PassOptions extends LedgerPlace {
  /** One of the sets that `planPasses` has made. */
  readonly buckets: ReadonlySet<number>;
  readonly findings: LedgerFindings;
}

/**
 * Reads every entry of the ledger of some buckets once, in no order: first entries that only one
 * segment has, then entries that may be in several places.
 *
 * The streams are read before the segments are listed: entries that the exporter trims meanwhile
 * are in a segment by then. Only entries that several sources claim to have are remembered, so that
 * their duplicates can be dropped.
 */
export async function* readLedger(options: PassOptions): AsyncGenerator<LedgerEntry> {
  const { connection, dirs, buckets, findings } = options;
  const coverages = new Map<number, Coverage>();
  const spans = new Map<number, StreamSpan>();
  const held = createHeldEntries();
  for (const bucket of buckets) {
    const span = await readStreamSpan(connection, bucket);
    for await (const entry of readStreamEntries(connection, bucket, span)) {
      addDecoded(held, bucket, entry, findings);
    }
    const coverage = createCoverage();
    coverage.add('redis', { after: span.floor, until: span.last });
    coverages.set(bucket, coverage);
    spans.set(bucket, span);
  }
  const segments = await openSegments(dirs, buckets.has(0) ? findings : createLedgerFindings());
  claimCoverage(segments, coverages);
  for (const [bucket, { last }] of spans) {
    noteBucketGaps(findings, bucket, coverages.get(bucket)?.findGaps(last) ?? []);
  }

  const countAt = ({ bucket, id }: LedgerEntry) => coverages.get(bucket)?.countAt(id) ?? 0;
  for (const segment of segments) {
    for await (const entry of readSegmentEntries(segment, buckets, findings)) {
      if (countAt(entry) < 2) yield entry;
      else if (!held.add(entry)) findings.duplicates++;
    }
  }
  await dropRepeated(held, { segments, buckets, countAt, findings });
  yield* held.all();
}

async function* readStreamEntries(
  connection: Pick<RedisConnection, 'client'>,
  bucket: number,
  span: StreamSpan,
): AsyncGenerator<StreamEntry> {
  let after = span.floor;
  for (let isAtEnd = false; !isAtEnd; ) {
    const page = await readStreamPage(connection, bucket, { after, until: span.last });
    yield* page;
    after = page.at(-1)?.id ?? after;
    isAtEnd = page.length < STREAM_PAGE_MAX;
  }
}

function addDecoded(
  held: HeldEntries,
  bucket: number,
  { id, fields }: StreamEntry,
  findings: LedgerFindings,
): void {
  try {
    held.add(decodeLedgerEntry(bucket, id, fields));
  } catch {
    const file = keysOfBucket(bucket).ledger;
    noteDamage(findings, { file, line: id, reason: 'is no entry of the ledger' });
  }
}

interface Repeats {
  readonly segments: readonly OpenedSegment[];
  readonly buckets: ReadonlySet<number>;
  readonly countAt: (entry: LedgerEntry) => number;
  readonly findings: LedgerFindings;
}

/** Reads the segments once more if a failover has lost exported entries, which is rare. */
async function dropRepeated(held: HeldEntries, repeats: Repeats): Promise<void> {
  const { segments, buckets, countAt, findings } = repeats;
  const irregular = held.findIrregular(countAt);
  if (irregular.length === 0) return;
  const isIrregular = new Set(irregular);
  const events = new Set(irregular.map(eventOf));
  const regularEvents = new Set<string>();
  for (const entry of held.all()) {
    const event = eventOf(entry);
    if (events.has(event) && !isIrregular.has(entry)) regularEvents.add(event);
  }
  for (const segment of segments) {
    for await (const entry of readSegmentEntries(segment, buckets, createLedgerFindings())) {
      const event = eventOf(entry);
      if (events.has(event) && countAt(entry) < 2) regularEvents.add(event);
    }
  }
  for (const entry of chooseDropped(irregular, regularEvents)) {
    held.delete(entry);
    findings.repeated++;
  }
}

function bucketsOfPass(pass: number, passes: number): Set<number> {
  const buckets = new Set<number>();
  for (let bucket = pass; bucket < BUCKETS; bucket += passes) buckets.add(bucket);
  return buckets;
}
