import { describe, expect, it } from 'vitest';
import { createCoverage } from '../../src/ledger/coverage.ts';
import { chooseDropped, eventOf } from '../../src/ledger/held-entries.ts';
import type { LedgerEntry } from '../../src/ledger/ledger-entry.ts';
import { compareStreamIds, rewindStreamId, streamIdBefore } from '../../src/ledger/stream-id.ts';

describe('the place of an entry', () => {
  it.each([
    ['5-0', '5-1'],
    ['5-9', '5-10'],
    ['9-9', '10-0'],
    ['5-18446744073709551614', '5-18446744073709551615'],
  ])('%s is before %s', (first, second) => {
    expect(compareStreamIds(first, second)).toBeLessThan(0);
    expect(compareStreamIds(second, first)).toBeGreaterThan(0);
    expect(compareStreamIds(first, first)).toBe(0);
  });

  it('has one before it', () => {
    expect(streamIdBefore('5-10')).toBe('5-9');
    expect(streamIdBefore('5-18446744073709551615')).toBe('5-18446744073709551614');
    expect(streamIdBefore('5-0')).toBe('4-18446744073709551615');
  });

  it('goes back in time, and not before the start', () => {
    expect(rewindStreamId('1760000000000-3', 120_000)).toBe('1759999880000-0');
    expect(rewindStreamId('5-3', 120_000)).toBe('0-0');
  });
});

describe('what sources claim to have', () => {
  it('is one span while segments of a source continue one another', () => {
    const coverage = createCoverage();
    coverage.add('a', { after: '0-0', until: '5-0' });
    coverage.add('a', { after: '5-0', until: '9-0' });
    expect(['0-0', '1-0', '5-0', '5-1', '9-0', '9-1'].map(coverage.countAt)).toEqual([
      0, 1, 1, 1, 1, 0,
    ]);
    expect(coverage.findGaps('9-0')).toEqual([]);
  });

  it('counts twice where a source reads again, or another one reads too', () => {
    const coverage = createCoverage();
    coverage.add('a', { after: '0-0', until: '5-0' });
    coverage.add('a', { after: '3-0', until: '9-0' });
    coverage.add('b', { after: '4-0', until: '6-0' });
    expect(['3-0', '3-1', '4-1', '5-1', '6-1'].map(coverage.countAt)).toEqual([1, 2, 3, 2, 1]);
  });

  it('has gaps before, between and after', () => {
    const coverage = createCoverage();
    coverage.add('a', { after: '7-0', until: '9-0' });
    coverage.add('b', { after: '2-0', until: '5-0' });
    coverage.add('c', { after: '3-0', until: '4-0' });
    coverage.add('c', { after: '4-0', until: '4-0' });
    expect(coverage.findGaps('12-0')).toEqual([
      { after: '0-0', until: '2-0' },
      { after: '5-0', until: '7-0' },
      { after: '9-0', until: '12-0' },
    ]);
    expect(coverage.findGaps('6-0')).toEqual([
      { after: '0-0', until: '2-0' },
      { after: '5-0', until: '6-0' },
    ]);
    expect(createCoverage().findGaps('0-0')).toEqual([]);
  });
});

describe('of entries that a failover took back', () => {
  const entry = (id: string, request: string) =>
    ({ bucket: 1, id, account: 'a', request, kind: 'charge' }) as LedgerEntry;

  it('none counts when the event was entered again', () => {
    const [lost, other] = [entry('1-0', 'r1'), entry('2-0', 'r2')];
    expect(chooseDropped([lost, other], new Set([eventOf(lost)]))).toEqual([lost]);
  });

  it('the last counts when no other entry is left', () => {
    const [first, second] = [entry('9-0', 'r1'), entry('10-0', 'r1')];
    expect(chooseDropped([second, first], new Set())).toEqual([first]);
  });
});
