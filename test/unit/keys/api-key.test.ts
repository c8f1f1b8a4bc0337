import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketOfAccount, mintAccountId } from '../../../src/keys/account-id.ts';
import {
  bucketOfKey,
  lastFourOf,
  mintApiKey,
  mintKeyId,
  parseApiKey,
} from '../../../src/keys/api-key.ts';
import { BUCKETS } from '../../../src/keys/bucket-tags.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bucket = fc.integer({ min: 0, max: BUCKETS - 1 });

function mint(bucketNumber: number): { keyId: string; key: string } {
  const keyId = mintKeyId(bucketNumber, randomBytes);
  return { keyId, key: mintApiKey(keyId, randomBytes) };
}

describe('an API key', () => {
  it('tells its id and its bucket', () => {
    fc.assert(
      fc.property(bucket, (number) => {
        const { keyId, key } = mint(number);
        expect(key).toMatch(/^sk-gw2-[0-9A-Za-z]{49}$/);
        expect(parseApiKey(key)).toEqual({ keyId, bucket: number });
        expect(bucketOfKey(keyId)).toBe(number);
      }),
    );
  });

  it('is refused with any one character typed wrongly', () => {
    const { key } = mint(200);
    let tried = 0;
    for (let at = 7; at < key.length; at++) {
      for (const digit of DIGITS) {
        if (digit === key[at]) continue;
        tried++;
        expect(parseApiKey(key.slice(0, at) + digit + key.slice(at + 1))).toBeUndefined();
      }
    }
    expect(tried).toBe(49 * 61);
  });

  it('is refused with two neighbours swapped', () => {
    const { key } = mint(3);
    for (let at = 7; at < key.length - 1; at++) {
      const [a = '', b = ''] = key.slice(at, at + 2);
      const swapped = key.slice(0, at) + b + a + key.slice(at + 2);
      if (a !== b) expect(parseApiKey(swapped), swapped).toBeUndefined();
    }
  });

  it.each([
    '',
    'sk-gw2-',
    'sk-gw1-3E56Bu5AeBG7d95j0ESeegQruo8XBrwNWwm3lYb8LnJ1DakuQ',
    'sk-ant-oat01-3E56Bu5AeBG7d95j0ESeegQruo8XBrwNWwm3lYb8LnJ1',
    'sk-gw2-3E56Bu5AeBG7d95j0ESeegQruo8XBrwNWwm3lYb8LnJ1Daku_',
  ])('is none when it is of another family or shape: %s', (text) => {
    expect(parseApiKey(text)).toBeUndefined();
  });

  it('is refused with any character in it that is no letter and no digit', () => {
    const { key } = mint(0);
    const strange = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: key.length - 1 }), strange, (at, char) => {
        fc.pre(char !== key[at]);
        expect(parseApiKey(key.slice(0, at) + char + key.slice(at + 1))).toBeUndefined();
      }),
    );
  });

  it('survives any text that is put in its place', () => {
    fc.assert(fc.property(fc.string(), (text) => parseApiKey(text) === undefined));
  });

  it('has another secret each time it is minted for the same id', () => {
    const keyId = mintKeyId(7, randomBytes);
    const secrets = new Set(Array.from({ length: 100 }, () => mintApiKey(keyId, randomBytes)));
    expect(secrets.size).toBe(100);
  });

  it('shows its last four characters', () => {
    expect(lastFourOf('sk-gw2-abcdefgh')).toBe('efgh');
  });

  it('uses every digit equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2_000; i++) {
      for (const digit of mint(0).key.slice(18, 50)) {
        counts.set(digit, (counts.get(digit) ?? 0) + 1);
      }
    }
    const expected = (2_000 * 32) / DIGITS.length;
    // Seven standard deviations: a favoured digit, as from a plain modulo, is 25 % off.
    const tolerance = 7 * Math.sqrt(expected);
    for (const digit of DIGITS) {
      expect(Math.abs((counts.get(digit) ?? 0) - expected), digit).toBeLessThan(tolerance);
    }
  });
});

describe('the id of an account', () => {
  it('tells its bucket', () => {
    fc.assert(
      fc.property(bucket, (number) => {
        expect(bucketOfAccount(mintAccountId(number, randomBytes))).toBe(number);
      }),
    );
  });

  it.each(['', 'acct_', 'acct_zz3456789012', 'acct_0034567890123', '003456789012'])(
    'is none when it has another shape, or no such bucket: %s',
    (id) => {
      expect(bucketOfAccount(id)).toBeUndefined();
    },
  );
});
