import { describe, expect, it } from 'vitest';
import { ACCOUNT, openScripts, redisKeys } from './open-scripts.ts';

const scripts = openScripts('credit');
const other = { paymentId: 'other' };

describe('credit', () => {
  it('adds once for each payment', async () => {
    expect(await scripts.credit(250)).toEqual({ kind: 'credited', balanceMicros: 1_250 });
    expect(await scripts.credit(250)).toEqual({ kind: 'repeated', balanceMicros: 1_250 });
    expect(await scripts.credit(250, other)).toEqual({ kind: 'credited', balanceMicros: 1_500 });
    expect(await scripts.account()).toMatchObject({ balance: '1500' });
    expect(await scripts.ledger()).toEqual([
      'topup payment  0 -250 0 1250',
      'topup other  0 -250 0 1500',
    ]);
    expect(await scripts.hash(redisKeys.payments)).toEqual({
      [`${ACCOUNT}:payment`]: '250',
      [`${ACCOUNT}:other`]: '250',
    });
  });

  it('refuses a payment that was entered with another amount', async () => {
    await scripts.credit(250);
    expect(await scripts.credit(251)).toEqual({ kind: 'conflict', micros: 250 });
    expect(await scripts.account()).toMatchObject({ balance: '1250' });
  });

  it('knows the same payment of another account as another one', async () => {
    await scripts.credit(250);
    await scripts.send('hset', redisKeys.account('acct_03another001'), 'version', 1);
    const reply = await scripts.credit(30, { accountId: 'acct_03another001' });
    expect(reply).toEqual({ kind: 'credited', balanceMicros: 30 });
  });

  it('refuses an account that does not exist', async () => {
    expect(await scripts.credit(1, { accountId: 'acct_03nobody0001' })).toEqual({
      kind: 'missing',
    });
    expect(await scripts.ledger()).toEqual([]);
  });

  it('takes what nobody holds, and no more', async () => {
    await scripts.setAccount({ held: 300 });
    expect(await scripts.credit(-701, { kind: 'adjustment' })).toEqual({
      kind: 'reserved',
      balanceMicros: 1_000,
      heldMicros: 300,
    });
    // A refusal does not use up the payment's id.
    expect(await scripts.credit(-700, { kind: 'adjustment' })).toEqual({
      kind: 'credited',
      balanceMicros: 300,
    });
    expect(await scripts.ledger()).toEqual(['adjustment payment  0 700 0 300']);
  });

  it('takes what is held, and more, when it has happened already', async () => {
    await scripts.setAccount({ held: 300 });
    const forced = { kind: 'adjustment', isForced: true } as const;
    expect(await scripts.credit(-1_200, forced)).toEqual({ kind: 'credited', balanceMicros: -200 });
    expect(await scripts.account()).toMatchObject({ balance: '-200', held: '300' });
    expect(await scripts.credit(50, other)).toEqual({ kind: 'credited', balanceMicros: -150 });
  });

  it('enters nothing as nothing', async () => {
    expect(await scripts.credit(0)).toEqual({ kind: 'credited', balanceMicros: 1_000 });
    expect(await scripts.ledger()).toEqual(['topup payment  0 0 0 1000']);
  });

  it('keeps balances where every micro is exact', async () => {
    const most = 8e15 - 1_000;
    expect(await scripts.credit(most + 1)).toEqual({ kind: 'too_much', balanceMicros: 1_000 });
    expect(await scripts.credit(most)).toEqual({ kind: 'credited', balanceMicros: 8e15 });
    expect(await scripts.account()).toMatchObject({ balance: '8000000000000000' });
    expect(await scripts.credit(-1, other)).toMatchObject({ balanceMicros: 7_999_999_999_999_999 });
    const forced = { paymentId: 'forced', isForced: true };
    expect(await scripts.credit(-9e15, forced)).toMatchObject({
      balanceMicros: -1_000_000_000_000_001,
    });
    expect(await scripts.credit(-8e15, { ...forced, paymentId: 'more' })).toMatchObject({
      kind: 'too_much',
    });
    expect(await scripts.account()).toMatchObject({ balance: '-1000000000000001' });
  });
});

describe('credit: an amount that is none', () => {
  it.each(['0.5', '9007199254740992', '-9007199254740992', 'nan', 'inf', '-inf', 'x', ''])(
    '%s is not entered',
    async (odd) => {
      scripts.changeArgs((args) => args.map((arg) => (arg === 777 ? odd : arg)));
      await expect(scripts.credit(777)).rejects.toThrow('amount');
      expect(await scripts.account()).toMatchObject({ balance: '1000' });
      expect(await scripts.ledger()).toEqual([]);
    },
  );

  it('changes no balance where it cannot be entered', async () => {
    await scripts.send('set', redisKeys.ledger, 'x');
    await expect(scripts.credit(5)).rejects.toThrow('WRONGTYPE');
    expect(await scripts.account()).toMatchObject({ balance: '1000' });
    expect(await scripts.send('exists', redisKeys.payments)).toBe(0);
  });
});
