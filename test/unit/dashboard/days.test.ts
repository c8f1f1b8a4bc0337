import { expect, it } from 'vitest';
import {
  countSpannedDays,
  dayAfter,
  listLastDays,
  listMonths,
  spanDays,
  spanLastDays,
  startOfHours,
} from '../../../src/dashboard/days.ts';

const NOW_MS = Date.parse('2027-03-01T10:20:30Z');

it('the last days are UTC days and end today', () => {
  expect(listLastDays(3, NOW_MS)).toEqual(['2027-02-27', '2027-02-28', '2027-03-01']);
  expect(dayAfter('2027-02-28')).toBe('2027-03-01');
  expect(spanDays('2027-03-02', '2027-03-01')).toEqual([]);
});

it('of a long range only the last days are listed, and all of them counted', () => {
  expect(spanLastDays('2027-02-01', '2027-03-01', 2)).toEqual(['2027-02-28', '2027-03-01']);
  expect(spanLastDays('2027-03-01', '2027-03-01', 2)).toEqual(['2027-03-01']);
  const counts = [
    countSpannedDays('2026-03-01', '2027-03-01'),
    countSpannedDays('2027-03-02', '2027-03-01'),
  ];
  expect(counts).toEqual([366, 0]);
});

it('the last hours begin with a whole hour and contain the hour that runs', () => {
  expect(startOfHours(24, NOW_MS)).toBe('2027-02-28T11:00:00.000Z');
});

it('the months since a time begin with the newest', () => {
  expect(listMonths('2026-11-30T23:59:59Z', NOW_MS)).toEqual([
    ...['2027-03', '2027-02', '2027-01', '2026-12', '2026-11'],
  ]);
  // The clock of the browser may be behind that of the node.
  expect(listMonths('2027-04-01T00:00:00Z', NOW_MS)).toEqual(['2027-03']);
});
