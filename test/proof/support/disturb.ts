import { encodeKeyBounds } from '../../../src/limits/encode-key-bounds.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { type CreditReply, credit, type Payment } from '../../../src/quota/scripts/credit.ts';
import { type RecordWrite, writeRecord } from '../../../src/quota/scripts/write-record.ts';
import type { RedisConnection } from '../../../src/redis/connect-redis.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import type { Report } from '../checks/violations.ts';
import { randomAmount } from './list-world.ts';
import type { Random } from './random.ts';
import { type ProofAccount, type ProofKey, unitOf } from './world.ts';

/** The limit for all huge accounts together, so that sums stay below 2^53 in runs of any length. */
const HUGE_UNITS_MAX = 3_000;

/**
 * A key or an account was shut at `fromMs` at the latest, and opened again at `untilMs` at the
 * earliest.
 */
export interface ShutSpan {
  readonly id: string;
  readonly fromMs: number;
  untilMs: number;
}

/** Removes all holds of an account, as a failover loses admissions that nothing followed. */
const FORGET = `#!lua
local prefix, lost = ARGV[1], {}
for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do
  local account, key, month, held = string.match(redis.call('HGET', KEYS[1], id), '^([^|]*)|([^|]*)|([^|]*)|[^|]*|([^|]*)|')
  if account == ARGV[2] then
    redis.call('HDEL', KEYS[1], id)
    redis.call('LREM', prefix .. 'leases', 0, id)
    redis.call('ZREM', prefix .. 'renewals', id)
    redis.call('HINCRBY', prefix .. 'account:' .. account, 'held', string.format('%.0f', 0 - held))
    redis.call('HINCRBY', prefix .. 'key:' .. key, 'held:' .. month, string.format('%.0f', 0 - held))
    redis.call('HINCRBY', prefix .. 'key:' .. key, 'in_flight', -1)
    lost[#lost + 1] = id
  end
end
return lost`;

interface DisturbOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly world: readonly ProofAccount[];
  readonly random: Random;
  readonly report: Report;
}

/** Does to accounts in use what operators, payers and failovers do. */
export function createDisturbances({ connection, world, random, report }: DisturbOptions) {
  const capMax = new Map<string, number>();
  const limitMax = new Map<string, number>();
  const payments = new Map<string, number>();
  const lost = new Set<string>();
  const shut: ShutSpan[] = [];
  const open = new Map<string, ShutSpan>();
  let hugeUnits = 0;
  let written = 0;
  for (const { keys } of world) {
    for (const { keyId, cap } of keys) if (cap !== undefined) capMax.set(keyId, cap);
  }
  const ofKind = (...kinds: readonly string[]) =>
    random.pick(world.filter(({ kind }) => kinds.includes(kind)));

  const write = async (
    account: ProofAccount,
    key: ProofKey | undefined,
    fields: RecordWrite['fields'],
  ) => {
    written += 1;
    const { accountId, bucket } = account;
    const redisKeys = keysOfBucket(bucket);
    const record: RecordWrite = {
      ...(key === undefined
        ? { subject: 'account', id: accountId, record: redisKeys.account(accountId) }
        : { subject: 'key', id: key.keyId, record: redisKeys.key(key.keyId) }),
      index: key === undefined ? redisKeys.accounts : redisKeys.keysOf(accountId),
      ...{ writeId: `write ${written}`, expected: '', overlapMs: undefined, fields },
    };
    const first = await writeRecord(connection, record);
    const again = await writeRecord(connection, record);
    if (JSON.stringify(first) !== JSON.stringify(again))
      report('write-record', 'it was written twice');
  };

  const pay = async (
    account: ProofAccount,
    micros: number,
    more: Pick<Payment, 'kind' | 'isForced'>,
  ) => {
    const { accountId, bucket } = account;
    const paymentId = `payment ${payments.size}`;
    const payment = { bucket, accountId, paymentId, micros, note: '', ...more };
    const replies = await Promise.all([
      credit(connection, payment, DEFAULT_WARNINGS),
      credit(connection, payment, DEFAULT_WARNINGS),
    ]);
    const count = (kind: CreditReply['kind']) =>
      replies.filter((reply) => reply.kind === kind).length;
    if (count('credited') > 1) report('I7', `${paymentId} was credited twice`);
    if (count('credited') > 0 && count('repeated') !== 1) report('I7', JSON.stringify(replies));
    payments.set(`${accountId} ${paymentId}`, count('credited') > 0 ? micros : 0);
  };

  const setStatus = async (account: ProofAccount, key: ProofKey | undefined) => {
    const id = key?.keyId ?? account.accountId;
    const span = open.get(id);
    if (span !== undefined) {
      span.untilMs = Date.now();
      open.delete(id);
      await write(account, key, { status: 'active' });
      return;
    }
    await write(account, key, { status: key === undefined ? 'suspended' : 'revoked' });
    const opened = { id, fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
    shut.push(opened);
    open.set(id, opened);
  };

  return {
    lost: lost as ReadonlySet<string>,
    /** The amount that each payment must have added. */
    payments: payments as ReadonlyMap<string, number>,
    shut: shut as readonly ShutSpan[],
    capMaxOf: (keyId: string) => capMax.get(keyId),
    /** The highest amount that any limit of a subject ever had, if amounts were changed. */
    limitMaxOf: (subjectId: string) => limitMax.get(subjectId),
    actions: {
      async topUp() {
        const account = random.pick(world);
        const isHuge = account.kind === 'huge';
        const units = random.int(0, isHuge ? 100 : 15_000);
        if (isHuge) hugeUnits += units;
        if (hugeUnits > HUGE_UNITS_MAX && isHuge) return;
        const micros = units * unitOf(account);
        await pay(account, micros, { kind: 'topup', isForced: false });
      },
      async takeBack() {
        const account = random.pick(world);
        await pay(account, -random.int(1, 3_000), { kind: 'adjustment', isForced: false });
      },
      async chargeBack() {
        await pay(ofKind('forced'), -random.int(1, 800), { kind: 'adjustment', isForced: true });
      },
      async raiseCap() {
        const account = random.pick(world);
        const key = random.pick(account.keys);
        const cap = capMax.get(key.keyId);
        if (cap === undefined) return;
        const raised = cap + random.int(1, 1_200) * unitOf(account);
        capMax.set(key.keyId, raised);
        await write(account, key, { cap: raised.toFixed(0) });
      },
      async lowerCap() {
        const account = ofKind('lowered');
        const key = random.pick(account.keys);
        const cap = capMax.get(key.keyId);
        if (cap !== undefined) await write(account, key, { cap: String(random.int(0, cap)) });
      },
      async shutOrOpen() {
        const account = ofKind('shut');
        await setStatus(account, random.chance(0.7) ? random.pick(account.keys) : undefined);
      },
      async changeLimits() {
        const limited = world.filter(({ kind }) => kind === 'limited');
        if (limited.length === 0) return;
        const account = random.pick(limited);
        const key = random.pick(account.keys);
        if (key.bounds === undefined) return;
        const limits = key.bounds.limits.map((limit) => {
          return { ...limit, amount: randomAmount(limit.unit, limit.window, random) };
        });
        const amounts = [...limits, ...key.bounds.limits].map(({ amount }) => amount);
        limitMax.set(key.keyId, Math.max(limitMax.get(key.keyId) ?? 0, ...amounts));
        await write(account, key, { limits: encodeKeyBounds({ ...key.bounds, limits }) });
      },
      async lose() {
        const { bucket, accountId } = ofKind('lossy');
        const { prefix, holds } = keysOfBucket(bucket);
        const ids = await connection.send('eval', [FORGET, '1', holds, prefix, accountId]);
        for (const id of ids as string[]) lost.add(id);
      },
    },
  };
}

export type Disturbances = ReturnType<typeof createDisturbances>;
