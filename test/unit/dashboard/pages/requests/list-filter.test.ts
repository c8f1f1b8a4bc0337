import { expect, it } from 'vitest';
import {
  countFilters,
  parseFilter,
  placeOfList,
  toQuery,
} from '../../../../../src/dashboard/pages/requests/list-filter.ts';

it('a filter goes into the address and comes back from it', () => {
  const filter = { account: 'acct_1', model: 'a/b & c', status: '4xx', last: '24h' };
  const place = placeOfList(filter, 'req/1');
  expect(place).toMatch(/^\/requests\/req%2F1\?account=acct_1&/);
  expect(parseFilter(place.split('?')[1] ?? '')).toEqual(filter);
  expect(countFilters(filter)).toBe(4);
  expect(placeOfList({})).toBe('/requests');
});

it('what is empty or unknown in the address is no filter', () => {
  expect(parseFilter('model=&unknown=1&key=k')).toEqual({ key: 'k' });
});

it('a time until now becomes a beginning', () => {
  const nowMs = Date.parse('2027-03-02T00:00:00Z');
  const query = toQuery({ last: '24h', key: 'k' }, nowMs);
  expect(query).toEqual({ key: 'k', from: '2027-03-01T00:00:00.000Z' });
  expect(toQuery({ last: '7d' }, nowMs)).toEqual({ from: '2027-02-23T00:00:00.000Z' });
  expect(toQuery({ last: 'soon', key: 'k' }, nowMs)).toEqual({ key: 'k' });
});
