import { describe, expect, it } from 'vitest';
import { repairFigure } from '../../../../src/quota/scripts/repair-figure.ts';
import { ACCOUNT, BUCKET, KEY, openScripts, redisKeys } from '../open-scripts.ts';

const scripts = openScripts('repair-figure');
const ofAccount = { key: null, field: 'balance', before: '1000', after: '970' };
const ofKey = { key: KEY, field: 'spent:202611', before: '0', after: '30' };

describe('a repaired figure', () => {
  it('gives an account and a key what the books have, without an entry', async () => {
    expect(await repairFigure(scripts.connection, BUCKET, ACCOUNT, ofAccount)).toBe(true);
    expect(await repairFigure(scripts.connection, BUCKET, ACCOUNT, ofKey)).toBe(true);
    expect(await scripts.account()).toMatchObject({ balance: '970' });
    expect(await scripts.hash(redisKeys.key(KEY))).toMatchObject({ 'spent:202611': '30' });
    expect(await scripts.ledger()).toEqual([]);
  });

  it('changes nothing when it is done again', async () => {
    await repairFigure(scripts.connection, BUCKET, ACCOUNT, ofAccount);
    expect(await repairFigure(scripts.connection, BUCKET, ACCOUNT, ofAccount)).toBe(true);
    expect(await scripts.account()).toMatchObject({ balance: '970' });
  });

  it('leaves a figure that has changed since it was compared', async () => {
    await scripts.credit(250);
    expect(await repairFigure(scripts.connection, BUCKET, ACCOUNT, ofAccount)).toBe(false);
    expect(await scripts.account()).toMatchObject({ balance: '1250' });
  });

  it('makes no record of an account that is gone', async () => {
    const gone = 'acct_03nobody0001';
    expect(
      await repairFigure(scripts.connection, BUCKET, gone, { ...ofAccount, before: '0' }),
    ).toBe(false);
    expect(await scripts.hash(redisKeys.account(gone))).toEqual({});
  });
});
