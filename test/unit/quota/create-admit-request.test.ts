import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { createAdmitRequest, type Payer } from '../../../src/quota/create-admit-request.ts';
import type { OpenHold } from '../../../src/quota/open-holds.ts';
import type { AdmitArguments, AdmitReply } from '../../../src/quota/scripts/admit.ts';
import { decodeLedgerUsage, type Settlement } from '../../../src/quota/settlement/settlement.ts';
import { NO_LISTS } from '../../support/limits/no-lists.ts';
import { DETAILS } from '../../support/request-details.ts';

const RATE = { nowMs: 0, limit: 60, left: 59, resetMs: 60_000, windowMs: 60_000 };
const USAGE = {
  input: 5,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 1,
  thinking: 0,
  searches: 0,
};
const ADMITTED: AdmitReply = {
  kind: 'admitted',
  rate: RATE,
  accountId: 'acct_1',
  month: '202611',
  heldMicros: 90,
  creditsMicros: 700,
  extras: '',
  outputTokensRoom: Number.MAX_SAFE_INTEGER,
  nearLimits: [],
};
const AWAY = new Refusal('unavailable', 'away');
const PAYER = { accountId: 'acct_1', month: '202611' };
const NOW_MS = 1_700_000_000_000;

function setUp(reply: AdmitReply | Error, payer?: Payer) {
  const books = { isFull: false };
  const asked: AdmitArguments[] = [];
  const open: OpenHold[] = [];
  const settled: Settlement[] = [];
  const rates: unknown[][] = [];
  const stopped: Refusal[] = [];
  const admitRequest = createAdmitRequest({
    books,
    askStore: (_bucket, ask) => ask(),
    async admit(order) {
      asked.push(order);
      if (reply instanceof Error) throw reply;
      return reply;
    },
    insure: () => Promise.resolve(payer),
    openHolds: {
      get count() {
        return open.length;
      },
      open(hold) {
        open.push(hold);
        return () => open.splice(open.indexOf(hold), 1);
      },
      stop: () => {},
      renewAll: () => {},
      close: () => {},
    },
    settleQueue: { add: (settlement) => settled.push(settlement) },
    windowMs: 60_000,
    usersMax: 10,
    warnAtShare: 0.8,
    digestEndUser: (name) => `digest of ${name}`,
    nowMs: () => NOW_MS,
    random: () => 0.5,
    onAsked: () => {},
    onReply: () => {},
  });
  const order = {
    key: {
      ...{ keyId: 'key1', bucket: 7, digest: 'd', masked: 'sk-gw2-…abcd' },
      origin: { address: '192.0.2.1', isLocal: false, claimed: undefined, cameDirectly: false },
      ...{ isProven: true, accountId: 'acc_1' },
    },
    plans: { starter: 60, pro: 300, business: 1_000, team: 2_000 },
    requestId: 'req_1',
    modelNames: ['m-1', 'm'],
    holdMicros: 100,
    holdLeastMicros: 50,
    tokens: NO_LISTS.tokens,
    endUser: '',
    seenMicros: () => 3,
    sendRate: (...told: unknown[]) => rates.push(told),
    stop: (refusal: Refusal) => stopped.push(refusal),
  };
  return { admit: () => admitRequest(order), books, asked, open, settled, rates, stopped };
}

describe('admitting a request', () => {
  it('holds what it may cost until it is settled for what it did cost', async () => {
    const { admit, asked, open, settled, rates } = setUp(ADMITTED);
    const admission = await admit();
    expect(asked).toMatchObject([
      {
        bucket: 7,
        keyId: 'key1',
        digest: 'd',
        requestId: 'req_1',
        holdMicros: 100,
        leaseMs: 15_000,
      },
    ]);
    expect(admission.heldMicros).toBe(90);
    expect(rates).toEqual([[RATE, [], 700]]);
    expect(open).toMatchObject([
      { accountId: 'acct_1', month: '202611', heldMicros: 90, lastKnownMs: RATE.nowMs },
    ]);
    const renewedMs = RATE.nowMs + 5_000;
    for (const hold of open) hold.lastKnownMs = renewedMs;

    admission.settle(
      { usage: USAGE, chargeMicros: 42, isEstimated: true, isImplausible: false },
      DETAILS,
    );
    expect(open).toEqual([]);
    expect(settled).toMatchObject([
      {
        bucket: 7,
        accountId: 'acct_1',
        keyId: 'key1',
        requestId: 'req_1',
        month: '202611',
        model: 'm-1',
        actualMicros: 42,
        lastKnownMs: renewedMs,
      },
    ]);
    const [settlement] = settled;
    expect(decodeLedgerUsage(settlement?.usage ?? Buffer.alloc(0))).toEqual({
      usage: USAGE,
      isEstimated: true,
      details: DETAILS,
    });
  });

  it('tells the rate also to whom it refuses, and holds nothing for it', async () => {
    const { admit, open, settled, rates } = setUp({
      kind: 'rate',
      rate: RATE,
      scope: 'key',
      waitMs: 5,
    });
    await expect(admit()).rejects.toMatchObject({ status: 429 });
    expect(rates).toEqual([[RATE, [], undefined]]);
    expect([open, settled]).toEqual([[], []]);
  });

  describe.each([
    ['revoked', 401],
    ['suspended', 403],
  ] as const)('stops a running request whose key or account is %s', (why, status) => {
    it.each([
      ['with a hold', ADMITTED],
      ['that is insured', AWAY],
    ])('%s', async (_, reply) => {
      const { admit, open, stopped } = setUp(reply, PAYER);
      await admit();
      open[0]?.stop(why);
      expect(stopped.map((refusal) => refusal.status)).toEqual([status]);
    });
  });

  it('refuses while the store is away', async () => {
    const { admit } = setUp(AWAY);
    await expect(admit()).rejects.toMatchObject({ status: 503 });
  });

  it('lets an insured key go on while the store is away, renewed and settled without an amount that is held', async () => {
    const { admit, open, settled } = setUp(AWAY, PAYER);
    const admission = await admit();
    expect(open).toMatchObject([
      { ...PAYER, requestId: 'req_1', heldMicros: 0, lastKnownMs: NOW_MS, extras: '' },
    ]);
    admission.settle(
      { usage: USAGE, chargeMicros: 42, isEstimated: false, isImplausible: false },
      DETAILS,
    );
    expect(open).toEqual([]);
    expect(settled).toMatchObject([{ ...PAYER, actualMicros: 42, lastKnownMs: NOW_MS }]);
  });

  it('lets no insured key go on after a fault, since the store is there', async () => {
    const { admit } = setUp(new Error('WRONGTYPE'), PAYER);
    await expect(admit()).rejects.toThrow('WRONGTYPE');
  });

  it('refuses without a word to the store while the books are full, even an insured key', async () => {
    const { admit, books, asked } = setUp(ADMITTED, PAYER);
    books.isFull = true;
    await expect(admit()).rejects.toMatchObject({
      refusal: 'books_full',
      status: 503,
      headers: { 'retry-after': '10' },
    });
    expect(asked).toEqual([]);
    books.isFull = false;
    expect(await admit()).toMatchObject({ heldMicros: 90 });
  });

  it('tells whom a limit refuses when all of it is free again', async () => {
    const met = { level: 'key', unit: 'tokens', window: 60_000, amount: 100 } as const;
    const counted = { countedAmount: 90, heldAmount: 0, waitMs: 5_000, resetMs: 50_000 };
    const { admit, rates } = setUp({ kind: 'limit', rate: RATE, ...met, ...counted });
    await expect(admit()).rejects.toMatchObject({ headers: { 'retry-after-ms': '5000' } });
    expect(rates).toMatchObject([[RATE, [{ ...met, left: 10, resetMs: 50_000 }], undefined]]);
  });
});
