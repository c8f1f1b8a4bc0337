import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { type AdmitArguments, createGatheredAdmit } from '../../../src/quota/scripts/admit.ts';
import { createGatheredSettle } from '../../../src/quota/scripts/settle.ts';
import type { Settlement } from '../../../src/quota/settlement/settlement.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import {
  ACCOUNT,
  DIGEST,
  KEY,
  LEASE_MS,
  MODEL,
  makeOrder,
  makeSettlement,
  NOW_MS,
  openScripts,
  REQUEST,
  redisKeys,
  requestNumber,
} from './open-scripts.ts';

const scripts = openScripts();

interface World {
  readonly balance: number;
  readonly plan: 'starter' | 'business' | 'team';
  readonly key: Readonly<Record<string, string | number>>;
}

/** First time passes, then all of these arrive in one turn of the event loop. */
interface Step {
  readonly passedMs: number;
  readonly admitted: readonly Partial<AdmitArguments>[];
  readonly settled: readonly Partial<Settlement>[];
  readonly isSwept: boolean;
}

const OTHER_KEY = '03thekey002';

/** There are few ids, so that some repeat, in the same run or in another. Some are of another key. */
const request = fc.integer({ min: 1, max: 24 }).map((number) => ({
  requestId: requestNumber(number),
  keyId: number % 3 === 0 ? OTHER_KEY : KEY,
}));
const amount = fc.integer({ min: 0, max: 40 });

const world: fc.Arbitrary<World> = fc.record({
  balance: fc.integer({ min: 0, max: 400 }),
  plan: fc.constantFrom('starter', 'business', 'team'),
  key: fc
    .record(
      {
        rpm: fc.integer({ min: 1, max: 12 }),
        cap: fc.integer({ min: 0, max: 300 }),
        in_flight_max: fc.integer({ min: 1, max: 6 }),
        models: fc.constantFrom(`,${MODEL},`, ',other,'),
      },
      { requiredKeys: [] },
    )
    .map((fields) => ({ ...fields, digest: DIGEST })),
});

const order: fc.Arbitrary<Partial<AdmitArguments>> = fc
  .record({
    request,
    holdMicros: amount,
    isWhole: fc.boolean(),
    modelNames: fc.constantFrom([MODEL, 'sonnet'], ['other']),
    digest: fc.constantFrom(DIGEST, DIGEST, DIGEST, DIGEST, 'wrong'),
  })
  .map(({ isWhole, request, ...rest }) => ({
    ...{ ...request, ...rest },
    holdLeastMicros: isWhole ? rest.holdMicros : 0,
  }));

const settlement: fc.Arbitrary<Partial<Settlement>> = fc
  .record({
    request,
    actualMicros: amount,
    // If the server does not know the request, the age of the settlement decides.
    lastKnownMs: fc.constantFrom(NOW_MS, NOW_MS + 90 * 60_000, NOW_MS - 3 * 3_600_000),
  })
  .map(({ request, ...rest }) => ({ ...request, ...rest }));

/** A run serves one key after the other. */
function byKey<Item extends { readonly keyId?: string }>(items: readonly Item[]): Item[] {
  const isOther = ({ keyId }: Item) => Number(keyId === OTHER_KEY);
  return [...items].sort((one, other) => isOther(one) - isOther(other));
}

const step: fc.Arbitrary<Step> = fc.record({
  // Long enough for the window to slide, a lease to end, and the month to end.
  passedMs: fc.constantFrom(0, 1, 20_000, LEASE_MS + 1, 60_000, 16 * 86_400_000),
  admitted: fc.array(order, { maxLength: 20 }).map(byKey),
  settled: fc.array(settlement, { maxLength: 20 }).map(byKey),
  isSwept: fc.boolean(),
});

async function begin({ balance, plan, key }: World): Promise<void> {
  await scripts.send('flushall');
  await scripts.setClock(NOW_MS);
  await scripts.setAccount({ status: 'active', plan, balance, version: 1 });
  const both = { status: 'active', account: ACCOUNT, version: 1, digest: DIGEST };
  await scripts.setKey({ ...both, ...key });
  await scripts.send('hset', redisKeys.key(OTHER_KEY), ...Object.entries(both).flat());
}

async function oneByOne<Item, Reply>(
  items: readonly Item[],
  call: (item: Item) => Promise<Reply>,
): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (const item of items) replies.push(await call(item));
  return replies;
}

async function live(steps: readonly Step[], isTogether: boolean): Promise<unknown> {
  const replies: unknown[] = [];
  let nowMs = NOW_MS;
  for (const { passedMs, admitted, settled, isSwept } of steps) {
    nowMs += passedMs;
    await scripts.setClock(nowMs);
    replies.push(
      isTogether
        ? await scripts.admitTogether(admitted)
        : await oneByOne(admitted, (more) => scripts.admit(more)),
      isTogether
        ? await scripts.settleTogether(settled)
        : await oneByOne(settled, (more) => scripts.settle(more.actualMicros ?? 0, more)),
    );
    if (isSwept) replies.push(await scripts.sweep());
  }
  return {
    replies,
    account: await scripts.account(),
    key: await scripts.key(),
    otherKey: await scripts.hash(redisKeys.key(OTHER_KEY)),
    holds: await scripts.holds(),
    done: await scripts.done(),
    leases: await scripts.send('lrange', redisKeys.leases, 0, -1),
    windowOfKey: await scripts.send('lrange', redisKeys.accountLog(KEY), 0, -1),
    admissions: await scripts.admissions(),
    ledger: await scripts.ledger(),
  };
}

describe('requests in one run of a script', () => {
  it('are told what each would be told alone, one after the other, and leave the same behind', async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.array(step, { minLength: 1, maxLength: 5 }), async (at, steps) => {
        await begin(at);
        const alone = await live(steps, false);
        await begin(at);
        expect(await live(steps, true)).toEqual(alone);
      }),
      { numRuns: 60 },
    );
  });

  it('share the room that is left: as many are let in as limit, cap and balance allow', async () => {
    await scripts.setAccount({ balance: 250 });
    const orders = Array.from({ length: 5 }, (_, n) => ({ requestId: requestNumber(n) }));
    const replies = await scripts.admitTogether(orders);
    expect(replies.map(({ kind }) => kind)).toEqual([
      ...['admitted', 'admitted', 'balance', 'balance', 'balance'],
    ]);
    expect(await scripts.account()).toMatchObject({ held: '200' });
    expect(await scripts.key()).toMatchObject({ in_flight: '2' });
  });

  it('are all refused by one word about their key', async () => {
    await scripts.setKey({ status: 'revoked' });
    const orders = Array.from({ length: 3 }, (_, n) => ({ requestId: requestNumber(n) }));
    expect(await scripts.admitTogether(orders)).toEqual(Array(3).fill({ kind: 'revoked' }));
  });

  it('are charged in the month of each', async () => {
    const [first, second] = [{ requestId: requestNumber(1) }, { requestId: requestNumber(2) }];
    await scripts.admit(first);
    await scripts.setClock(NOW_MS + 16 * 86_400_000);
    await scripts.admit(second);
    const settled = [
      { ...first, actualMicros: 30 },
      { ...second, actualMicros: 50 },
    ];
    await scripts.settleTogether(settled);
    expect(await scripts.key()).toMatchObject({ 'spent:202611': '30', 'spent:202612': '50' });
    expect(await scripts.account()).toMatchObject({ balance: '920', held: '0' });
  });

  it('of several keys and accounts are told what each would be told alone, on any bucket', async () => {
    const { orders, settlements } = await createSubjects();
    const refused = { ...orders[4], digest: 'wrong', requestId: requestNumber(90) };
    const capped = { ...orders[5], holdMicros: 300, requestId: requestNumber(91) };
    const together = await scripts.admitTogether([refused, ...orders, capped]);
    expect(together.map(({ kind }) => kind)).toEqual([
      ...['unknown', ...Array(12).fill('admitted'), 'balance'],
    ]);
    // Each account has a plan of its own, and two requests of each key came.
    expect(together.slice(1, 5).map((reply) => 'rate' in reply && reply.rate.limit)).toEqual([
      ...[2, 3, 1_000, 2],
    ]);
    const charged = await scripts.settleTogether(settlements);
    expect(charged.map(({ kind }) => kind)).toEqual(Array(12).fill('charge'));
    for (const { bucket } of SUBJECTS) {
      const keys = keysOfBucket(bucket);
      const [accountId, keyId] = idsOf(bucket);
      expect(await scripts.hash(keys.account(accountId))).toMatchObject({
        balance: '260',
        held: '0',
      });
      expect(await scripts.hash(keys.key(keyId))).toMatchObject({ in_flight: '0', [SPENT]: '40' });
      expect(await scripts.hash(keys.holds)).toEqual({});
      expect(Object.values(await scripts.hash(keys.done(REQUEST)))).toEqual(['20', '20']);
    }
  });

  it('are of one bucket on a Cluster', async () => {
    const { orders, settlements } = await createSubjects();
    const buckets: number[] = [];
    const connection: Parameters<typeof createGatheredAdmit>[0] = {
      send(command, [script, ...args]) {
        const tags = args.flatMap((arg) => /\{[^}]*\}/.exec(String(arg))?.[0] ?? []);
        if (command === 'eval') buckets.push(new Set(tags).size);
        return scripts.connection.send(command, [script ?? '', ...args]);
      },
      atTurnEnd: setImmediate,
      isCluster: true,
    };
    const admitted = orders.map(makeOrder).map(createGatheredAdmit(connection));
    const settled = settlements.map(makeSettlement);
    expect((await Promise.all(admitted)).map(({ kind }) => kind)).toEqual(
      Array(12).fill('admitted'),
    );
    await Promise.all(settled.map(createGatheredSettle(connection, DEFAULT_WARNINGS)));
    expect(buckets).toEqual(Array(2 * SUBJECTS.length).fill(1));
  });

  it('of other keys are served when the records of one cannot be read', async () => {
    const { orders, settlements } = await createSubjects();
    const damaged = keysOfBucket(SUBJECTS[2]?.bucket ?? 0);
    await scripts.send('set', damaged.leases, 'x');
    const admitted = await Promise.allSettled(scripts.admitTurn(orders.slice(0, 6)));
    const kinds = admitted.map((result) =>
      result.status === 'fulfilled' ? result.value.kind : result.reason.message,
    );
    expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(5);
    await scripts.send('set', damaged.ledger, 'x');
    const settled = await Promise.allSettled(scripts.settleTurn(settlements.slice(0, 6)));
    expect(settled.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    ]);
    for (const { bucket } of SUBJECTS) {
      if (bucket === SUBJECTS[2]?.bucket) continue;
      const balance = '280';
      const [accountId] = idsOf(bucket);
      const account = keysOfBucket(bucket).account(accountId);
      expect(await scripts.hash(account)).toMatchObject({ balance, held: '0' });
    }
  });
});

const SPENT = 'spent:202611';
const SUBJECTS = [
  ...[
    { bucket: 3, plan: 'starter' },
    { bucket: 40, plan: 'pro' },
    { bucket: 77, plan: 'team' },
  ],
  ...[
    { bucket: 99, plan: 'gone' },
    { bucket: 150, plan: 'team' },
    { bucket: 255, plan: 'team' },
  ],
];

const idsOf = (bucket: number) => [`acct_0several${bucket}`, `0several${bucket}`] as const;

/** Six accounts with a key each, in buckets of their own, and two requests of each key. */
async function createSubjects() {
  const requests = [...SUBJECTS, ...SUBJECTS].map(({ bucket }, n) => {
    const [accountId, keyId] = idsOf(bucket);
    return { bucket, accountId, keyId, requestId: requestNumber(n) };
  });
  for (const { bucket, plan } of SUBJECTS) {
    const keys = keysOfBucket(bucket);
    const [accountId, keyId] = idsOf(bucket);
    const account = ['status', 'active', 'plan', plan, 'balance', 300, 'version', 1];
    await scripts.send('hset', keys.account(accountId), ...account);
    const key = ['status', 'active', 'account', accountId, 'digest', DIGEST, 'version', 1];
    await scripts.send('hset', keys.key(keyId), ...key);
  }
  return {
    orders: requests.map(({ accountId: _, ...order }) => ({ ...order, holdMicros: 50 })),
    settlements: requests.map((request) => ({ ...request, actualMicros: 20 })),
  };
}
