import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DATA_FILES } from '../../../src/lib/data-files.ts';

it('is explained to newcomers, file by file', () => {
  const page = readFileSync('src/docs/first-steps.md', 'utf8');
  const table = page.split('| file or folder |')[1]?.split('\n\n')[0] ?? '';
  const cells = table.split('\n').map((row) => row.split('|')[1] ?? '');
  const named = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual(Object.values(DATA_FILES).sort());
});
