import { expect, it } from 'vitest';
import { listChanges } from '../../../src/dashboard/pages/audit/list-changes.ts';

it('fields that differ are listed with what stood and what stands there, others not', () => {
  const before = { name: 'a', rpm: 5, models: ['opus'], cap: null };
  const after = { name: 'a', rpm: 6, models: ['opus', 'haiku'], cap: null };
  expect(listChanges(before, after)).toEqual([
    { field: 'rpm', before: '5', after: '6' },
    { field: 'models', before: '["opus"]', after: '["opus","haiku"]' },
  ]);
});

it('what came and what went has one side only, and null is nothing', () => {
  expect(listChanges({ cap: 3, rpm: null }, { cap: null, rpm: 0, name: '' })).toEqual([
    { field: 'cap', before: '3' },
    { field: 'rpm', after: '0' },
    { field: 'name', after: '' },
  ]);
  expect(listChanges(null, { id: 'a' })).toEqual([{ field: 'id', after: 'a' }]);
  expect(listChanges({ id: 'a' }, null)).toEqual([{ field: 'id', before: 'a' }]);
  expect(listChanges(null, null)).toEqual([]);
});
