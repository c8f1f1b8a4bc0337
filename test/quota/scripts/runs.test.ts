import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AdmitOrder } from '../../../src/quota/scripts/admit.ts';
import type { Settlement } from '../../../src/quota/settlement/settlement.ts';
import {
  ACCOUNT,
  DIGEST,
  KEY,
  LEASE_MS,
  MODEL,
  NOW_MS,
  openScripts,
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
  readonly admitted: readonly Partial<AdmitOrder>[];
  readonly settled: readonly Partial<Settlement>[];
  readonly isSwept: boolean;
}

/** There are few ids, so that some repeat, in the same run or in another. */
const requestId = fc.integer({ min: 1, max: 24 }).map(requestNumber);
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

const order: fc.Arbitrary<Partial<AdmitOrder>> = fc
  .record({
    requestId,
    holdMicros: amount,
    isWhole: fc.boolean(),
    modelNames: fc.constantFrom([MODEL, 'sonnet'], ['other']),
    digest: fc.constantFrom(DIGEST, DIGEST, DIGEST, DIGEST, 'wrong'),
  })
  .map(({ isWhole, ...rest }) => ({ ...rest, holdLeastMicros: isWhole ? rest.holdMicros : 0 }));

const settlement: fc.Arbitrary<Partial<Settlement>> = fc.record({
  requestId,
  actualMicros: amount,
  // If the server does not know the request, the age of the settlement decides.
  firstTriedMs: fc.constantFrom(NOW_MS, NOW_MS + 90 * 60_000, NOW_MS - 3 * 3_600_000),
});

const step: fc.Arbitrary<Step> = fc.record({
  // Long enough for the window to slide, a lease to end, and the month to end.
  passedMs: fc.constantFrom(0, 1, 20_000, LEASE_MS + 1, 60_000, 16 * 86_400_000),
  admitted: fc.array(order, { maxLength: 20 }),
  settled: fc.array(settlement, { maxLength: 20 }),
  isSwept: fc.boolean(),
});

async function begin({ balance, plan, key }: World): Promise<void> {
  await scripts.send('flushall');
  await scripts.setClock(NOW_MS);
  await scripts.setAccount({ status: 'active', plan, balance, version: 1 });
  await scripts.setKey({ status: 'active', account: ACCOUNT, version: 1, ...key });
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
});
