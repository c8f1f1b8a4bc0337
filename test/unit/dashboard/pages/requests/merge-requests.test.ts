import { expect, it } from 'vitest';
import type { ListedRequest } from '../../../../../src/dashboard/api/books-types.ts';
import { mergeRequests } from '../../../../../src/dashboard/pages/requests/merge-requests.ts';

const row = (id: string, time: string, kind = 'charge') => ({ id, time, kind }) as ListedRequest;

it('rows of two lists stand once, the newest first', () => {
  const [one, two, three] = [
    row('a', '2027-03-01T00:00:01Z'),
    row('b', '2027-03-01T00:00:02Z'),
    row('c', '2027-03-01T00:00:03Z'),
  ];
  expect(mergeRequests([three, two], [two, one]).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
  // A row may come late: the books take it in after younger ones.
  expect(mergeRequests([one], [three, two]).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
});

it('a request that was settled twice has two rows', () => {
  const rows = [row('a', '2027-03-01T00:00:01Z'), row('a', '2027-03-01T00:00:01Z', 'late')];
  expect(mergeRequests(rows, rows)).toHaveLength(2);
});
