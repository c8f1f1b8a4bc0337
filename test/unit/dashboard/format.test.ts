import { describe, expect, it } from 'vitest';
import {
  chooseDayFormat,
  formatAge,
  formatCount,
  formatCreditAmount,
  formatFigure,
  formatMs,
} from '../../../src/dashboard/format.ts';

describe('the dashboard writes', () => {
  it('credits to the micro-credit, with separated thousands', () => {
    expect([1_234_567.000001, 0.5, 0, -3].map(formatCreditAmount)).toEqual([
      ...['1,234,567.000001', '0.5', '0', '-3'],
    ]);
  });

  it('what is counted exactly, and what is measured with three figures', () => {
    expect(formatCount(1_234_567)).toBe('1,234,567');
    expect([0.123_456, 12.345, 999.4, 1_234.5].map(formatFigure)).toEqual([
      ...['0.123', '12.3', '999', '1,235'],
    ]);
  });

  it('days with their year if not all are of one year', () => {
    const seconds = Date.parse('2026-12-31') / 1_000;
    expect(chooseDayFormat('2026-01-01', '2026-12-31')(seconds)).toBe('31 Dec');
    expect(chooseDayFormat('2026-12-31', '2027-01-01')(seconds)).toBe('31 Dec 2026');
  });

  it('times with the unit that fits', () => {
    expect([0.05, 999, 1_500].map(formatMs)).toEqual(['0.05 ms', '999 ms', '1.5 s']);
    const since = '2026-01-01T00:00:00Z';
    const startMs = Date.parse(since);
    const ages = [-5, 0, 59, 60, 7_200, 200_000].map((seconds) =>
      formatAge(since, startMs + seconds * 1_000),
    );
    expect(ages).toEqual(['0 s', '0 s', '59 s', '1 min', '2 h', '2 d']);
  });
});
