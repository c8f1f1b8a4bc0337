import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import {
  type AdmitArguments,
  type AdmitReply,
  createGatheredAdmit,
} from '../../../src/quota/scripts/admit.ts';
import { type CreditReply, credit, type Payment } from '../../../src/quota/scripts/credit.ts';
import { type Hold, renew } from '../../../src/quota/scripts/renew.ts';
import {
  createGatheredSettle,
  type SettleReply,
  settle,
} from '../../../src/quota/scripts/settle.ts';
import { sweep } from '../../../src/quota/scripts/sweep.ts';
import type { Warnings } from '../../../src/quota/scripts/warnings.ts';
import { type RecordWrite, writeRecord } from '../../../src/quota/scripts/write-record.ts';
import type { Settlement } from '../../../src/quota/settlement/settlement.ts';
import type { RedisConnection } from '../../../src/redis/connect-redis.ts';
import { MUTANTS } from '../../proof/mutants.ts';
import { splitLedgerEntry } from '../../support/ledger/split-ledger-entry.ts';
import { admitAlone } from '../../support/limits/admit-alone.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { NO_LISTS } from '../../support/limits/no-lists.ts';
import { CLOCK_KEY, FROZEN_CLOCK, type Patch, patchScripts } from '../../support/patch-scripts.ts';
import { kindsOf, repliesOfHeader } from '../../support/replies-of-header.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

export const BUCKET = 3;
export const ACCOUNT = 'acct_03account001';
export const KEY = '03thekey001';
export const DIGEST = 'digest';
export const REQUEST = 'req_00abcd000000000000000001';
export const MODEL = 'llm-sonnet-4.6';
/** In the middle of November 2026. */
export const NOW_MS = Date.UTC(2026, 10, 15, 12);
export const MONTH = '202611';
export const WINDOW_MS = 60_000;
export const LEASE_MS = 15_000;
const PLANS = { starter: 2, pro: 3, business: 4, team: 1_000 };

const GATHERED = { atTurnEnd: setImmediate, isCluster: false };

export const redisKeys = keysOfBucket(BUCKET);

/**
 * Returns the number of blocks by the record, the number of blocks in the log, then all times as
 * numbers, because a text in a reply may not keep its bytes.
 */
const READ_WINDOW = `#!lua flags=no-writes
local state = redis.call('HGET', KEYS[1], 'window')
if not state then return { 0, 0 } end
local blocks, oldest_count = struct.unpack('>I4I1', state)
local between, newest_from = redis.call('LRANGE', KEYS[2], 0, -1), 6 + 6 * oldest_count
local reply = { blocks, #between }
local times = string.sub(state, 6, newest_from - 1) .. table.concat(between) .. string.sub(state, newest_from)
for index = 1, #times, 6 do reply[#reply + 1] = (struct.unpack('>I6', times, index)) end
return reply`;

const WRITE_WINDOW = `#!lua
local state = struct.pack('>I4I1', 0, 0)
for _, time in ipairs(ARGV) do state = state .. struct.pack('>I6', time) end
redis.call('HSET', KEYS[1], 'window', state)`;

/** `npm run test:mutants` runs the tests with a mistake in the scripts. */
function mutantPatches(): readonly Patch[] {
  const name = process.env['SCRIPT_MUTANT'];
  return MUTANTS.filter((mutant) => mutant.name === name);
}

type Args = Parameters<RedisConnection['send']>[1];
type ChangeArgs = (args: Args) => Args;

/**
 * Runs the scripts on a server of the test file, with a clock that stands still. Before each test
 * the server holds only one account and one key. After the last test, every reply in the script's
 * header must have been seen.
 */
export function openScripts(script?: string) {
  let connection: Pick<RedisConnection, 'send'>;
  let port = 0;
  let changeArgs: ChangeArgs = (args) => args;
  let warnings = DEFAULT_WARNINGS;
  const seen = new Set<string>();

  const send = (command: string, ...args: readonly (string | number)[]) =>
    connection.send(command, args.map(String));
  const hash = async (redisKey: string) =>
    (await send('hgetall', redisKey)) as Record<string, string>;
  const setClock = (nowMs: number) => send('set', CLOCK_KEY, nowMs);
  const set = async (redisKey: string, fields: Readonly<Record<string, string | number>>) => {
    const flat = Object.entries(fields).flat();
    if (flat.length > 0) await send('hset', redisKey, ...flat);
  };
  const setAccount = (fields: Readonly<Record<string, string | number>>) =>
    set(redisKeys.account(ACCOUNT), fields);
  const setKey = (fields: Readonly<Record<string, string | number>>) =>
    set(redisKeys.key(KEY), fields);

  const admitTurn = (all: readonly Partial<AdmitArguments>[]): Promise<AdmitReply>[] => {
    const admitOne = createGatheredAdmit({ ...connection, ...GATHERED });
    return all.map((more) => admitOne(makeOrder(more)));
  };
  const settleTurn = (all: readonly Partial<Settlement>[]): Promise<SettleReply>[] => {
    const settleOne = createGatheredSettle({ ...connection, ...GATHERED }, warnings);
    return all.map((more) => settleOne(makeSettlement(more)));
  };

  beforeAll(async () => {
    const server = await startRedisServer();
    port = server.port;
    const redis = openConnection(standalone(tcp(server.port)));
    await waitForRedis(redis);
    const patched = patchScripts(redis, [FROZEN_CLOCK, ...mutantPatches()]);
    connection = {
      async send(command, args) {
        const reply = await patched.send(command, changeArgs(args));
        if (command === 'eval') for (const kind of kindsOf(reply)) seen.add(kind);
        return reply;
      },
    };
  });
  beforeEach(async () => {
    changeArgs = (args) => args;
    warnings = DEFAULT_WARNINGS;
    await send('flushall');
    await setClock(NOW_MS);
    await setAccount({ status: 'active', plan: 'team', balance: 1_000, version: 1 });
    await setKey({ status: 'active', account: ACCOUNT, digest: DIGEST, version: 1 });
  });
  afterAll(async () => {
    await closeConnections();
    await stopRedisServers();
    if (script !== undefined) {
      expect([...seen]).toEqual(expect.arrayContaining(repliesOfHeader(script)));
    }
  });

  return {
    send,
    hash,
    /**
     * Changes the arguments of calls, as a faulty node whose wrappers check nothing would send
     * them.
     */
    changeArgs(change: ChangeArgs) {
      changeArgs = change;
    },
    setClock,
    setAccount,
    setKey,
    account: () => hash(redisKeys.account(ACCOUNT)),
    key: () => hash(redisKeys.key(KEY)),
    holds: () => hash(redisKeys.holds),
    done: () => hash(redisKeys.done(REQUEST)),
    /** The admission times of the requests in the account's window, oldest first. */
    async admissions(): Promise<number[]> {
      const window = [redisKeys.account(ACCOUNT), redisKeys.accountLog(ACCOUNT)];
      const reply = await send('eval', READ_WINDOW, window.length, ...window);
      const [blocks, blocksOfLog, ...times] = reply as number[];
      expect(blocksOfLog).toBe(blocks);
      return times;
    },
    /** At most a block of times, oldest first. */
    setAdmissions: (...times: readonly number[]) =>
      send('eval', WRITE_WINDOW, 1, redisKeys.account(ACCOUNT), ...times),
    /** When the lease of a hold ends. 0 if a sweep cannot find the hold. */
    async leaseEnd(requestId = REQUEST): Promise<number> {
      const renewed = await send('zscore', redisKeys.renewals, requestId);
      if (renewed !== null) return Number(renewed);
      const ids = (await send('lrange', redisKeys.leases, 0, -1)) as string[];
      const hold = (await hash(redisKeys.holds))[requestId];
      return ids.includes(requestId) ? Number(hold?.split('|')[6] ?? 0) : 0;
    },
    /** Kind, request, month, held, charged, short and balance of each entry. */
    async ledger(): Promise<string[]> {
      const entries = (await send('xrange', redisKeys.ledger, '-', '+')) as [string, string[]][];
      return entries.map(([, fields]) => {
        const values = splitLedgerEntry(fields);
        const [kind, request] = [values.get('kind'), values.get('request')];
        const amounts = ['held', 'charged', 'short', 'balance'].map((name) => values.get(name));
        const who = request === REQUEST ? 'it' : request;
        return `${kind} ${who} ${values.get('month')} ${amounts.join(' ')}`;
      });
    },
    admit: (more: Partial<AdmitArguments> = {}): Promise<AdmitReply> =>
      admitAlone(connection, makeOrder(more)),
    admitTurn,
    /** Sends all requests in one turn of the event loop. */
    admitTogether: (all: readonly Partial<AdmitArguments>[]) => Promise.all(admitTurn(all)),
    renew: (seenMicros: number, more: Partial<Hold> & { readonly leaseMs?: number } = {}) =>
      renew(
        connection,
        {
          ...{ bucket: BUCKET, accountId: ACCOUNT, keyId: KEY, requestId: REQUEST },
          ...{ month: MONTH, model: MODEL, extras: '', heldMicros: 100, lastKnownMs: NOW_MS },
          ...more,
        },
        { seenMicros, leaseMs: more.leaseMs ?? 60_000 },
        warnings,
      ),
    settle: (actualMicros: number, more: Partial<Settlement> = {}) =>
      settle(connection, makeSettlement({ actualMicros, ...more }), warnings),
    settleTurn,
    settleTogether: (all: readonly Partial<Settlement>[]) => Promise.all(settleTurn(all)),
    async sweep(countMax = 100) {
      const { swept, chargedMicros } = await sweep(connection, BUCKET, countMax, warnings);
      return { swept, chargedMicros };
    },
    setWarnings(next: Partial<Warnings>) {
      warnings = { ...DEFAULT_WARNINGS, ...next };
    },
    credit: (micros: number, more: Partial<Payment> = {}): Promise<CreditReply> => {
      const payment: Payment = {
        bucket: BUCKET,
        accountId: ACCOUNT,
        paymentId: 'payment',
        micros,
        kind: 'topup',
        isForced: false,
        note: '',
        ...more,
      };
      return credit(connection, payment, warnings);
    },
    writeRecord: (more: Partial<RecordWrite>) =>
      writeRecord(connection, {
        subject: 'key',
        id: KEY,
        record: redisKeys.key(KEY),
        index: redisKeys.keysOf(ACCOUNT),
        writeId: 'write',
        expected: '',
        overlapMs: undefined,
        fields: {},
        ...more,
      }),
    /** Returns a function that waits until all messages have arrived. */
    async subscribe(channel: string, onMessage: (message: Buffer) => void) {
      const subscriber = openConnection(standalone(tcp(port))).client;
      await waitUntil(() => subscriber.status === 'ready', 'the subscriber is connected');
      await subscriber.subscribe(channel);
      subscriber.on('messageBuffer', (_channel: Buffer, message: Buffer) => onMessage(message));
      return (isDone: () => boolean) => waitUntil(isDone, 'the messages have come');
    },
    connection: { send: (...call: Parameters<typeof connection.send>) => connection.send(...call) },
  };
}

export type OpenScripts = ReturnType<typeof openScripts>;

export function makeOrder(more: Partial<AdmitArguments>): AdmitArguments {
  return {
    ...{ bucket: BUCKET, keyId: KEY, digest: DIGEST },
    modelNames: [MODEL, 'sonnet'],
    requestId: REQUEST,
    holdMicros: 100,
    holdLeastMicros: more.holdMicros ?? 100,
    leaseMs: LEASE_MS,
    windowMs: WINDOW_MS,
    plans: PLANS,
    ...NO_LISTS,
    ...more,
  };
}

export function makeSettlement(more: Partial<Settlement>): Settlement {
  return {
    bucket: BUCKET,
    accountId: ACCOUNT,
    keyId: KEY,
    requestId: REQUEST,
    month: MONTH,
    model: MODEL,
    extras: '',
    actualMicros: 100,
    lastKnownMs: NOW_MS,
    usage: Buffer.from([0xc0]),
    ...more,
  };
}

/** Another request of the same minute. */
export function requestNumber(number: number): string {
  return `req_00abcd${String(number).padStart(18, '0')}`;
}
