import { expect, it } from 'vitest';
import { listChanges } from '../../../src/ops/list-changes.ts';

it('fields that differ are listed with what stood and what stands there, others not', () => {
  const before = { name: 'a', rpm: 5, models: ['opus'], cap: null };
  const after = { name: 'a', rpm: 6, models: ['opus', 'haiku'], cap: null };
  expect(listChanges(before, after)).toEqual([
    { field: 'rpm', before: 5, after: 6 },
    { field: 'models', before: ['opus'], after: ['opus', 'haiku'] },
  ]);
});

it('what came and what went has null on the other side, and null is nothing', () => {
  expect(listChanges({ cap: 3, rpm: null }, { cap: null, rpm: 0, name: '' })).toEqual([
    { field: 'cap', before: 3, after: null },
    { field: 'rpm', before: null, after: 0 },
    { field: 'name', before: null, after: '' },
  ]);
  expect(listChanges(null, { id: 'a' })).toEqual([{ field: 'id', before: null, after: 'a' }]);
  expect(listChanges({ id: 'a' }, null)).toEqual([{ field: 'id', before: 'a', after: null }]);
  expect(listChanges(null, null)).toEqual([]);
  expect(listChanges({ version: 1 }, { version: 2 })).toEqual([]);
});
