import fc from 'fast-check';
import { pack } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { encodeChargeLine } from '../../src/ledger/encode-charge-line.ts';
import {
  decodeLedgerEntry,
  encodeLedgerLine,
  parseLedgerLine,
} from '../../src/ledger/ledger-entry.ts';
import type { RequestDetails } from '../../src/protocol/request-details.ts';
import { encodeLedgerUsage } from '../../src/quota/settlement/settlement.ts';
import { DETAILS } from '../support/request-details.ts';
import { USAGE } from './ledger-scene.ts';

const RUNS = 1_000;

const count = fc.oneof(fc.nat(300), fc.nat(), fc.nat({ max: Number.MAX_SAFE_INTEGER }));
const fraction = fc.double({ min: 0, max: 1e9, noNaN: true }).map((value) => value + 0);
const anyNumber = fc.oneof(count, fraction, fc.integer(), fc.double());
const name = fc.stringMatching(/^[a-zA-Z0-9_.:/-]{1,40}$/);
const kind = fc.constantFrom('charge', 'release', 'late', 'orphan', 'expired');

const details: fc.Arbitrary<RequestDetails> = fc
  .record({
    format: fc.constantFrom('native' as const, 'chat' as const),
    isStream: fc.boolean(),
    maskedKey: fc.string({ maxLength: 60 }),
    bodyBytes: count,
    configVersion: name,
    price: fc.record({
      ...{ input: fraction, output: fraction, cacheRead: fraction },
      ...{ cacheWrite5m: fraction, cacheWrite1h: fraction },
      webSearch: fc.option(fraction, { nil: undefined }),
    }),
    tries: fc.array(fc.record({ upstream: name, result: fc.constant('ok' as const) }), {
      maxLength: 7,
    }),
    status: fc.option(fc.nat(599), { nil: undefined }),
    refusal: fc.constantFrom(undefined, 'rate_limited' as const),
    firstEventMs: fc.option(count, { nil: undefined }),
    totalMs: count,
  })
  .map((some) => ({ ...DETAILS, ...some }) as RequestDetails);

const usageOf = (number: fc.Arbitrary<number>) =>
  fc.record({
    ...{ input: number, cacheRead: number, cacheWrite5m: number },
    ...{ cacheWrite1h: number, output: number, thinking: number },
    searches: fc.oneof(fc.constant(0), number),
  });

const packedUsage = (number: fc.Arbitrary<number>) =>
  fc
    .tuple(usageOf(number), fc.boolean(), details)
    .map(([usage, isEstimated, more]) => encodeLedgerUsage(usage, isEstimated, more));

const micros = fc.maxSafeInteger().filter((value) => Math.abs(value) < 1e15);

const regularText = fc
  .tuple(kind, name, name, name, name, micros, count, micros, micros, name)
  .map((parts) => parts.map((part) => (typeof part === 'number' ? part % 1e15 : part)).join('|'));

const regularId = fc
  .tuple(fc.integer({ min: 1e12, max: 9_999_999_999_999 }), fc.nat(100))
  .map(([ms, number]) => `${ms}-${number}`);

/** The parts of an entry, each of which may be unusual. */
const oddText = fc
  .tuple(
    ...[fc.oneof(kind, fc.constantFrom('topup', 'gift', ''))],
    fc.array(
      fc.oneof(
        ...[name, fc.string({ unit: 'binary' }), anyNumber.map(String), fc.constant('')],
        fc.constantFrom('-0', '01', ' 5', '0x10', '1e3', '9007199254740993', 'a"b', 'a\\b', 'ü'),
      ),
      { maxLength: 11 },
    ),
  )
  .map(([first, parts]) => [first, ...parts].join('|'));

/** A regular entry with one unusual part. */
const bentText = fc
  .tuple(
    regularText,
    fc.nat(9),
    fc.constantFrom(
      '',
      '-0',
      '01',
      ' 5',
      '1e3',
      '0.5',
      '9007199254740993',
      'a"b',
      'ü',
      '\n',
      'x|y',
    ),
  )
  .map(([text, index, part]) => text.split('|').with(index, part).join('|'));

const bentUsage = fc
  .tuple(packedUsage(anyNumber), fc.nat(), fc.nat(255), fc.constantFrom(-1, 0, 1))
  .map(([bytes, at, byte, change]) => {
    const bent = Buffer.from(bytes);
    bent[at % bent.length] = byte;
    if (change < 0) return bent.subarray(0, at % bent.length);
    return change === 0 ? bent : Buffer.concat([bent, Buffer.from([byte])]);
  });

const oddUsage = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.anything().map((value) => packOrNothing(value)),
  usageOf(anyNumber).map((usage) => pack([1, ...Object.values(usage), true])),
);

const oddId = fc.oneof(fc.string(), fc.constantFrom('0-0', '9999999999999999-0', '176-1'));

function packOrNothing(value: unknown): Buffer {
  try {
    return pack(value);
  } catch {
    return Buffer.alloc(0);
  }
}

const fieldsOf = (
  text: string,
  usage: Buffer,
  [first, second]: readonly string[] = ['entry', 'usage'],
) => [...[Buffer.from(String(first)), Buffer.from(text)], ...[Buffer.from(String(second)), usage]];

/** Undefined if the entry is damaged. */
function decodeAndEncode(id: string, fields: readonly Buffer[]): string | undefined {
  try {
    return encodeLedgerLine(decodeLedgerEntry(7, id, fields));
  } catch {
    return undefined;
  }
}

describe('the line of a request, written straight from what Redis has', () => {
  it('is that of the decoded entry, and is read again as the same', () => {
    const usage = fc.oneof(packedUsage(fc.oneof(count, fraction)), fc.constant(Buffer.alloc(0)));
    fc.assert(
      fc.property(regularId, regularText, usage, (id, text, packed) => {
        const fields = fieldsOf(text, packed);
        const line = encodeChargeLine(7, id, fields);
        expect(line).toBeDefined();
        expect(line).toBe(decodeAndEncode(id, fields));
        expect(encodeLedgerLine(parseLedgerLine(line ?? ''))).toBe(line);
      }),
      { numRuns: RUNS },
    );
  });

  it('is left to decoding, or is that of the decoded entry, whatever stands there', () => {
    const text = fc.oneof(regularText, bentText, oddText);
    const usage = fc.oneof(packedUsage(anyNumber), bentUsage, oddUsage);
    const id = fc.oneof({ weight: 4, arbitrary: regularId }, oddId);
    let written = 0;
    let damaged = 0;
    fc.assert(
      fc.property(id, text, usage, (place, entry, packed) => {
        const fields = fieldsOf(entry, packed);
        const line = encodeChargeLine(7, place, fields);
        const decoded = decodeAndEncode(place, fields);
        if (line !== undefined) expect(line).toBe(decoded);
        if (line !== undefined) written++;
        if (decoded === undefined) damaged++;
      }),
      { numRuns: 5 * RUNS },
    );
    expect(written).toBeGreaterThan(RUNS / 10);
    expect(damaged).toBeGreaterThan(RUNS / 10);
  });

  it.each([
    ['no end', { ...USAGE, input: Number.POSITIVE_INFINITY }, 2],
    ['less than nothing', { ...USAGE, output: -1 }, 2],
    ['no number', { ...USAGE, thinking: Number.NaN }, 2],
    ['more than 31 bits', { ...USAGE, cacheRead: 4_000_000_001 }, 2],
    ['more than 32 bits', { ...USAGE, cacheRead: 4_300_000_000 }, 2],
    ['a part of a token', { ...USAGE, cacheRead: 0.5 }, 2],
    ['the version before', USAGE, 1],
    ['a later version', USAGE, 3],
  ])('tells of a usage with %s what decoding tells', (_, usage, version) => {
    const packed = encodeLedgerUsage(usage, true, DETAILS);
    packed[1] = version;
    const fields = fieldsOf('charge|a|k|202611|m|1|2|0|3|r', packed);
    const decoded = decodeAndEncode('1760000000000-3', fields);
    const line = encodeChargeLine(7, '1760000000000-3', fields);
    expect(line ?? decoded).toBe(decoded);
  });

  it.each([
    ['other fields', ['kind', 'usage']],
    ['fields in another order', ['usage', 'entry']],
    ['a longer name', ['entry', 'usages']],
  ])('is left to decoding with %s', (_, names) => {
    const text = 'charge|a|k|202611|m|1|2|0|3|r';
    const packed = encodeLedgerUsage(USAGE, true, DETAILS);
    expect(encodeChargeLine(7, '1760000000000-3', fieldsOf(text, packed))).toBeDefined();
    const fields = fieldsOf(text, packed, names);
    expect(encodeChargeLine(7, '1760000000000-3', fields)).toBeUndefined();
    expect(encodeChargeLine(7, '1760000000000-3', fields.slice(0, 3))).toBeUndefined();
  });
});
