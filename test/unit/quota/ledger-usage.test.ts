import { pack, unpack } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/protocol/answers/no-usage.ts';
import { decodeLedgerUsage, encodeLedgerUsage } from '../../../src/quota/settlement/settlement.ts';
import { DETAILS } from '../../support/request-details.ts';

const PLAIN = { ...NO_USAGE, input: 1, cacheRead: 2, output: 5, thinking: 1 };
const SEARCHED = { ...PLAIN, searches: 3 };
const PRICED = { ...DETAILS, price: { ...DETAILS.price, webSearch: 10 } };

/** The places that the version without searches reads. */
const DETAILS_PLACE = 8;
const PRICE_PLACE = 4;

describe('the packed usage of a request that has searched', () => {
  const packed = encodeLedgerUsage(SEARCHED, false, PRICED);

  it('tells its searches and their price', () => {
    const decoded = decodeLedgerUsage(packed);
    expect(decoded).toEqual({ usage: SEARCHED, isEstimated: false, details: PRICED });
  });

  it('has them where nodes that know of none do not look', () => {
    const searched = unpack(packed);
    const plain = unpack(encodeLedgerUsage(PLAIN, false, DETAILS));
    expect(searched).toHaveLength(plain.length + 1);
    const price = searched[DETAILS_PLACE][PRICE_PLACE];
    expect(price.splice(5)).toEqual([10]);
    expect(searched.slice(0, plain.length)).toEqual(plain);
  });
});

describe('the packed usage of any other request', () => {
  it('is what nodes that know of no searches write', () => {
    const packed = encodeLedgerUsage(PLAIN, true, DETAILS);
    const [version, ...rest] = unpack(packed);
    expect([version, rest.length, rest[DETAILS_PLACE - 1][PRICE_PLACE].length]).toEqual([2, 8, 5]);
  });

  it('has none in records of the first version either', () => {
    expect(decodeLedgerUsage(pack([1, 1, 2, 0, 0, 5, 1, true]))).toEqual({
      usage: PLAIN,
      isEstimated: true,
      details: undefined,
    });
  });
});
