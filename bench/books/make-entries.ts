import { randomBytes } from 'node:crypto';
import type {
  AccountNameRow,
  EntryRow,
  KeyNameRow,
  PaymentRow,
} from '../../src/books/engine/tables.ts';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { encodeLedgerUsage } from '../../src/quota/settlement/settlement.ts';
import { DETAILS } from '../../test/support/request-details.ts';

const DAY_MS = 86_400_000;
const BUCKETS = 256;
const MODELS = ['llm-haiku-4.5', 'llm-sonnet-4.6', 'llm-opus-4.7'];
const UPSTREAMS = ['main', 'main', 'main', 'spare'];
/** Some keys are used much more than others. */
const CROWDING = 2.2;
const FAILED_SHARE = 0.02;
const STREAMED_SHARE = 0.6;
const PAID_MICROS = 1_000_000_000_000;

export interface Fleet {
  readonly accounts: readonly AccountNameRow[];
  readonly keys: readonly KeyNameRow[];
  readonly payments: readonly PaymentRow[];
}

export interface FleetSize {
  readonly entries: number;
  readonly accounts: number;
  readonly keys: number;
  readonly days: number;
  /** The beginning of a day. */
  readonly startMs: number;
}

/** What a request is found by later. */
export interface Sample {
  readonly request: string;
  readonly account: string;
  readonly key: string;
  readonly model: string;
}

export function makeFleet({ accounts, keys, startMs }: FleetSize): Fleet {
  const statics = { plan: 'pro', status: 'active', created_ms: startMs };
  const nameOf = (n: number) => `Customer ${n} Ltd`;
  const ids = Array.from({ length: accounts }, () => `acct_${randomBytes(6).toString('hex')}`);
  return {
    accounts: ids.map((account, n) => ({
      ...{ account, bucket: n % BUCKETS, name: nameOf(n), ...statics },
    })),
    keys: Array.from({ length: keys }, (_, n) => ({
      ...{ key: randomBytes(8).toString('hex'), account: ids[n % accounts] ?? '' },
      ...{ name: `key ${n}`, last4: 'x7Qa', status: 'active' },
    })),
    payments: ids.map((account, n) => ({
      ...{ ms: startMs + n, bucket: n % BUCKETS, seq: 1, kind: 'topup', payment: `first-${n}` },
      ...{ account, amount: PAID_MICROS, balance: PAID_MICROS, note: null },
    })),
  };
}

/** In the order of time, evenly over the days; the same fleet makes about the same rows. */
export function* makeBatches(
  fleet: Fleet,
  { entries, days, startMs }: FleetSize,
  batchSize: number,
): Generator<EntryRow[]> {
  const mintRequestId = createRequestIdMint(randomBytes);
  const random = createRandom();
  const bucketOf = new Map(fleet.accounts.map(({ account, bucket }) => [account, bucket]));
  const stepMs = (days * DAY_MS) / entries;
  let batch: EntryRow[] = [];
  for (let n = 0; n < entries; n++) {
    const ms = startMs + Math.floor(n * stepMs);
    const owner = fleet.keys[Math.floor(random() ** CROWDING * fleet.keys.length)];
    if (owner === undefined) throw new Error('there is no key');
    const { account, key } = owner;
    const entry = makeEntry(ms, mintRequestId(ms), random);
    batch.push({ ...entry, account, key, bucket: bucketOf.get(account) ?? 0 });
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function makeEntry(ms: number, request: string, random: () => number): EntryRow {
  const pick = (most: number) => Math.floor(random() * most);
  const isFailed = random() < FAILED_SHARE;
  const [input, output, rank] = [200 + pick(4_000), 20 + pick(900), pick(MODELS.length)];
  const charged = isFailed ? 0 : input * (1 + 2 * rank) + output * (5 + 10 * rank);
  const upstream = UPSTREAMS[pick(UPSTREAMS.length)] ?? '';
  const firstMs = 100 + pick(900);
  const totalMs = firstMs + pick(9_000);
  const times = { startedMs: ms - totalMs, firstEventMs: firstMs, totalMs };
  const usage = { input, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output };
  return {
    ...{ ms, bucket: 0, seq: 0, kind: isFailed ? 'release' : 'charge', request },
    ...{ account: '', group: null, key: '', end_user: null, model: MODELS[rank] ?? '' },
    month: new Date(ms).toISOString().slice(0, 'yyyy-mm'.length).replace('-', ''),
    ...{ upstream, status: isFailed ? 502 : 200, outcome: isFailed ? 'failed' : 'complete' },
    ...{ refusal: isFailed ? 'upstream_broken' : null },
    ...{ streamed: random() < STREAMED_SHARE ? 1 : 0, input, cache_read: 0, cache_write_5m: 0 },
    ...{ cache_write_1h: 0, output, thinking: 0, searches: 0, estimated: 0 },
    ...{ held: charged + 20_000, charged, short: 0, balance: PAID_MICROS - pick(PAID_MICROS) },
    cost: isFailed ? null : Math.floor(charged / 2),
    ...{ started_ms: ms - totalMs, first_ms: firstMs, total_ms: totalMs },
    details: Buffer.from(
      encodeLedgerUsage({ ...usage, thinking: 0, searches: 0 }, false, { ...DETAILS, ...times }),
    ),
  };
}

/** The same numbers in each run. */
function createRandom(): () => number {
  let state = 7;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
