import { describe, expect, it } from 'vitest';
import { createCoverage, type SourceStretch } from '../../../src/books/import/coverage.ts';
import { moveCursor } from '../../../src/books/import/move-cursors.ts';
import { parseSegmentLine } from '../../../src/books/import/parse-segment-line.ts';
import { decodeEntry } from '../../../src/books/writing/decode-entry.ts';

const span = (source: string, after: string, until: string): SourceStretch => ({
  source,
  after,
  until,
});

describe('what sources claim to have', () => {
  it('is one span while segments of a source continue one another', () => {
    const coverage = createCoverage([span('a', '0-0', '5-0'), span('a', '5-0', '9-0')]);
    const places = ['0-0', '1-0', '5-0', '5-1', '9-0', '9-1'];
    expect(places.map(coverage.countAt)).toEqual([0, 1, 1, 1, 1, 0]);
    expect(coverage.spans()).toEqual([span('a', '0-0', '9-0')]);
    expect(coverage.findGaps('9-0')).toEqual([]);
  });

  it('counts twice where a source reads again, or another one reads too', () => {
    const spans = [span('a', '0-0', '5-0'), span('a', '3-0', '9-0'), span('b', '4-0', '6-0')];
    const { countAt } = createCoverage(spans);
    expect(['3-0', '3-1', '4-1', '5-1', '6-1'].map(countAt)).toEqual([1, 2, 3, 2, 1]);
  });

  it('has gaps before, between and after', () => {
    const spans = [span('a', '7-0', '9-0'), span('b', '2-0', '5-0'), span('c', '4-0', '4-0')];
    expect(createCoverage(spans).findGaps('12-0')).toEqual([
      { after: '0-0', until: '2-0' },
      { after: '5-0', until: '7-0' },
      { after: '9-0', until: '12-0' },
    ]);
  });
});

describe('where ingestion goes on after an import', () => {
  const HOLED = [span('a', '0-0', '3-0'), span('b', '5-0', '7-0')];
  const nothing = { ofSegments: [], cursor: '0-0', gaps: [] };
  it.each([
    ['behind the segments', [span('a', '0-0', '5-0')], '4-0', '5-0', []],
    ['where the first hole begins that Redis fills', HOLED, '2-0', '3-0', []],
    ['behind a hole that nobody fills', HOLED, '6-0', '7-0', [['3-0', '5-0']]],
    [
      'behind what Redis has trimmed meanwhile',
      [span('a', '0-0', '5-0')],
      '8-0',
      '8-0',
      [['5-0', '8-0']],
    ],
    [
      'at the end of Redis, if that has lost the last ones',
      [span('a', '0-0', '12-0')],
      '2-0',
      '9-0',
      [],
    ],
  ])('is %s', (_, ofSegments, floor, cursor, gaps) => {
    const moved = moveCursor({ ...nothing, ofSegments, span: { floor, last: '9-0' } });
    expect(moved.cursor).toBe(cursor);
    expect(moved.gaps).toEqual(gaps.map(([after, until]) => ({ after, until })));
  });

  it('never goes back, and shortens the gaps of the books', () => {
    const moved = moveCursor({
      ofSegments: [span('a', '0-0', '4-0')],
      cursor: '9-0',
      gaps: [{ after: '0-0', until: '6-0' }],
      span: { floor: '6-0', last: '9-0' },
    });
    expect(moved).toEqual({ cursor: '9-0', gaps: [{ after: '4-0', until: '6-0' }] });
  });
});

describe('a line of a segment', () => {
  const LINE = {
    ...{ bucket: 3, id: '7-1', kind: 'charge', request: 'a|b', account: 'acct_a', key: 'k' },
    ...{ model: 'm', month: '202601', held_micros: 9, charged_micros: 5, short_micros: 1 },
    ...{ balance_micros: -3, note: null, details: null },
  };
  const usage = {
    ...{ input: 1, cache_read: 2, cache_write_5m: 3, cache_write_1h: 4, output: 5 },
    ...{ thinking: 6, estimated: true },
  };
  const decode = (line: object) => {
    const { bucket, id, fields } = parseSegmentLine(JSON.stringify(line));
    return decodeEntry(bucket, id, fields, () => undefined);
  };

  it('is the entry that it was, with a usage of a version without details', () => {
    expect(decode({ ...LINE, usage })).toMatchObject({
      is: 'entry',
      row: {
        ...{ ms: 7, bucket: 3, seq: 1, kind: 'charge', request: 'a|b', account: 'acct_a' },
        ...{ key: 'k', model: 'm', month: '202601', held: 9, charged: 5, short: 1, balance: -3 },
        ...{ input: 1, cache_read: 2, output: 5, thinking: 6, searches: 0, estimated: 1 },
      },
    });
    expect(decode({ ...LINE, usage: { ...usage, searches: 8 } })).toMatchObject({
      row: { searches: 8, input: 1 },
    });
    expect(decode({ ...LINE, kind: 'release', usage: null })).toMatchObject({
      row: { details: null, input: 0 },
    });
  });

  it('is the payment that it was', () => {
    const payment = { kind: 'topup', key: null, model: null, month: null, usage: null };
    expect(decode({ ...LINE, ...payment, charged_micros: -5, note: 'grüße' })).toMatchObject({
      is: 'payment',
      row: { payment: 'a|b', amount: 5, note: 'grüße', account: 'acct_a', balance: -3 },
    });
  });

  it('is refused when it is damaged', () => {
    expect(() => parseSegmentLine('{"bucket":3')).toThrow();
    expect(() => parseSegmentLine(JSON.stringify({ ...LINE, usage, id: 'x' }))).toThrow('id');
  });
});
