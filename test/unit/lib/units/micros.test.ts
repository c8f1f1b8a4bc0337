import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditsOf, formatCredits, parseCredits } from '../../../../src/lib/units/micros.ts';

const MICROS_MAX = 4_000_000_000_000_000;
const amount = fc.oneof(
  fc.integer({ min: -MICROS_MAX, max: MICROS_MAX }),
  fc.integer({ min: MICROS_MAX - 1_000_000, max: MICROS_MAX }),
  fc.integer({ min: -3_000_000, max: 3_000_000 }),
);

/** Plain decimal text, built from digits alone. */
function writeDecimal(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0+$/, '');
  const sign = micros < 0 ? '-' : '';
  return `${sign}${digits.slice(0, -6)}${decimals === '' ? '' : `.${decimals}`}`;
}

describe('parseCredits', () => {
  it.each([
    [0, 0],
    [-0, 0],
    [1, 1_000_000],
    [0.3, 300_000],
    [1.000001, 1_000_001],
    [0.000001, 1],
    [-2.5, -2_500_000],
    [1.005, 1_005_000],
    [4e9, MICROS_MAX],
    [3_999_999_999.999999, MICROS_MAX - 1],
  ])('reads %d credits as %d micros', (credits, micros) => {
    expect(parseCredits(credits)).toBe(micros);
  });

  it.each([
    0.1 + 0.2,
    0.0000001,
    1.0000005,
    -1.2345678,
    4_000_000_000.000001,
    -5e9,
    1e300,
    5e-324,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ])('refuses %d', (credits) => {
    expect(parseCredits(credits)).toBeUndefined();
  });

  it('gives back every amount that was written, as a number or as text', () => {
    fc.assert(
      fc.property(amount, (micros) => {
        const normal = micros + 0;
        expect(parseCredits(creditsOf(micros))).toBe(normal);
        expect(parseCredits(Number(formatCredits(micros)))).toBe(normal);
        expect(parseCredits(JSON.parse(JSON.stringify(creditsOf(micros))))).toBe(normal);
      }),
    );
  });

  it('takes no number for anything but what it says with 6 decimals', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), (credits) => {
        const micros = parseCredits(credits);
        const isWritable = Number(credits.toFixed(6)) === credits;
        expect(micros !== undefined).toBe(isWritable);
        if (micros !== undefined) expect(creditsOf(micros)).toBe(credits + 0);
      }),
    );
  });
});

describe('formatCredits', () => {
  it.each([
    [420, '0.00042'],
    [1, '0.000001'],
    [1_000_000_000, '1000'],
    [-2_500_000, '-2.5'],
    [0, '0'],
    [-0, '0'],
    [1_000_001, '1.000001'],
    [MICROS_MAX, '4000000000'],
  ])('writes %d micros as %s', (micros, text) => {
    expect(formatCredits(micros)).toBe(text);
  });

  it('writes plain decimals without an exponent or a trailing zero, whatever the amount', () => {
    fc.assert(
      fc.property(amount, (micros) => {
        expect(formatCredits(micros)).toBe(writeDecimal(micros));
      }),
    );
  });
});
