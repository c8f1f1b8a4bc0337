import { expect, it } from 'vitest';
import { printTable } from '../../src/cli/print-table.ts';

it('aligns columns, and rows may lack the last ones', () => {
  const rows = [['ID', 'NAME'], ['a'], ['abc', 'd']];
  expect(printTable(rows)).toBe(['ID   NAME', 'a', 'abc  d'].join('\n'));
});

it('takes any number of rows', () => {
  const rows = Array.from({ length: 200_000 }, () => ['a', 'b']);
  expect(printTable(rows).length).toBe(200_000 * 'a  b\n'.length - 1);
});
