import type { Command } from 'ioredis';
import { unpack } from 'msgpackr';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { encodeLedgerUsage } from '../../src/quota/settlement/settlement.ts';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import { BOOKS_KEYS, COUNT_KEYS } from '../../src/redis/redis-keys.ts';
import { DETAILS } from '../support/request-details.ts';
import type { LedgerLine, SimulatedStore, StoreData } from './simulated-store.ts';

const SIMULATED_BUCKET = 7;
const LEDGER = keysOfBucket(SIMULATED_BUCKET).ledger;
const USAGE = encodeLedgerUsage(
  {
    ...{ input: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
    output: 1,
    thinking: 0,
    searches: 0,
  },
  false,
  DETAILS,
);

type Connection = Pick<RedisConnection, 'client' | 'isCluster' | 'send'>;
type Args = readonly (string | number | Buffer)[];

/** What an ingester asks of Redis, answered by the simulated store: its ledger and its leases. */
export function connectToStore(store: SimulatedStore): Connection {
  const send = (command: string, args: Args): Promise<unknown> => {
    if (command === 'evalsha') return callScript(store, args);
    if (command === 'smembers') return Promise.resolve([]);
    if (command === 'xtrim' && args[1] === 'MINID') {
      const [ms, seq] = placeOf(args[2]);
      return store.call(({ trim }) => trim(ms, seq));
    }
    throw new Error(`the simulated store has no ${command}`);
  };
  const sendCommand = async ({ name, args: [stream, ...range] }: Command) => {
    if (name !== 'xrange') throw new Error(`the simulated store has no ${name}`);
    if (stream !== LEDGER) return [];
    return await store.call(({ ledger }) => readRange(ledger, range.map(String)));
  };
  return { send, isCluster: false, client: { sendCommand } } as unknown as Connection;
}

/** Scripts are told apart by their keys. */
function callScript(store: SimulatedStore, [, count, first, ...rest]: Args): Promise<unknown> {
  if (first === COUNT_KEYS.counter) return Promise.resolve([0, '']);
  if (first === BOOKS_KEYS.lease) {
    if (count === 1) return store.call((data) => releaseLease(data, String(rest[0])));
    const [, , run, leaseMs, booksId] = rest;
    return store.call((data) => holdLease(data, String(run), Number(leaseMs), String(booksId)));
  }
  if (count === 1) return readLastIds(store, [String(first), ...unpack(rest[0] as Buffer)]);
  if (first !== LEDGER) return Promise.resolve(['0-0', '', 0, [], []]);
  return store.call(({ ledger, last, isTrimmed }) => {
    const [oldest] = ledger;
    return [idOf(last), oldest === undefined ? '' : idOf(oldest), isTrimmed ? 1 : 0, [], []];
  });
}

function readLastIds(store: SimulatedStore, ledgers: readonly string[]): Promise<string[]> {
  return store.call(({ ledger }) => {
    const last = ledger.at(-1);
    return ledgers.map((name) => (name === LEDGER && last !== undefined ? idOf(last) : ''));
  });
}

function holdLease({ nowMs, get, set }: StoreData, run: string, leaseMs: number, own: string) {
  const holder = get(BOOKS_KEYS.lease);
  if (holder !== undefined && holder !== run) return ['other_node', nowMs, own];
  set(BOOKS_KEYS.lease, run, leaseMs);
  return ['held', nowMs, own];
}

function releaseLease({ get, set }: StoreData, run: string): number {
  if (get(BOOKS_KEYS.lease) !== run) return 0;
  set(BOOKS_KEYS.lease, undefined);
  return 1;
}

function readRange(
  ledger: readonly LedgerLine[],
  [from = '', to = '', , count]: readonly string[],
) {
  const isAfter = from.startsWith('(');
  const first = placeOf(isAfter ? from.slice(1) : from);
  const last = placeOf(to);
  const found = ledger.filter((line) => {
    const toFirst = compare([line.ms, line.seq], first);
    return (isAfter ? toFirst > 0 : toFirst >= 0) && compare([line.ms, line.seq], last) <= 0;
  });
  return found.slice(0, count === undefined ? undefined : Number(count)).map(encodeLine);
}

function encodeLine(line: LedgerLine): [Buffer, Buffer[]] {
  const { kind, accountId, requestId, charged } = line;
  const entry = [kind, accountId, 'k', '202611', 'llm-a', 0, charged, 0, 0, requestId].join('|');
  const fields = ['entry', entry, 'usage', USAGE].map((field) => Buffer.from(field));
  return [Buffer.from(idOf(line)), fields];
}

function idOf({ ms, seq }: Pick<LedgerLine, 'ms' | 'seq'>): string {
  return `${ms}-${seq}`;
}

function placeOf(id: unknown): [number, number] {
  const [ms, seq = 0] = String(id).split('-').map(Number);
  return [ms ?? 0, seq];
}

function compare(
  [ms, seq]: readonly [number, number],
  [otherMs, other]: readonly [number, number],
) {
  return ms === otherMs ? seq - other : ms - otherMs;
}
