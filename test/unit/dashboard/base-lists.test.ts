import { expect, it } from 'vitest';
import { baseLists } from '../../../src/dashboard/base-lists.ts';

it('a change that replaces a list says which version it was made from, and no other one does', () => {
  expect(baseLists({ name: 'a', limits: [] }, 3)).toEqual({
    name: 'a',
    limits: [],
    base_version: 3,
  });
  expect(baseLists({ user_limits: [] }, 3)).toEqual({ user_limits: [], base_version: 3 });
  expect(baseLists({ models: ['a'] }, 3)).toEqual({ models: ['a'], base_version: 3 });
  expect(baseLists({ models: null }, 3)).toEqual({ models: null, base_version: 3 });
  expect(baseLists({ name: 'a' }, 3)).toEqual({ name: 'a' });
  expect(baseLists({ limits: [] }, undefined)).toEqual({ limits: [] });
});
