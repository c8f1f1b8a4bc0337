import { expect, it } from 'vitest';
import type { UsageRow } from '../../../../../src/dashboard/api/books-types.ts';
import { stackUsage } from '../../../../../src/dashboard/pages/usage/stack-usage.ts';

const row = (day: string, model: string, charged: number) => ({ day, model, charged }) as UsageRow;

it('each model has a value for each day, those with the most first and the others together', () => {
  const days = ['2027-03-01', '2027-03-02'];
  const rows = [
    row('2027-03-01', 'a', 1),
    row('2027-03-02', 'b', 6),
    row('2027-03-02', 'c', 5),
    row('2027-03-01', 'd', 4),
    row('2027-03-02', 'e', 3),
    row('2027-03-02', 'f', 0.5),
    row('2027-03-02', 'a', 0.25),
  ];
  const { times, series } = stackUsage(rows, days);
  expect(times).toEqual(days.map((day) => Date.parse(day) / 1_000));
  expect(series).toEqual([
    { label: 'b', values: [0, 6] },
    { label: 'c', values: [0, 5] },
    { label: 'd', values: [4, 0] },
    { label: 'e', values: [0, 3] },
    { label: 'others', values: [1, 0.75] },
  ]);
});

it('there are no others if each model has a colour of its own', () => {
  expect(stackUsage([row('2027-03-01', 'a', 1)], ['2027-03-01']).series).toEqual([
    { label: 'a', values: [1] },
  ]);
});
