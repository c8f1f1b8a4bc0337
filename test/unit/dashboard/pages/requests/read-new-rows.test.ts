import { expect, it } from 'vitest';
import type { ListedRequest, RequestList } from '../../../../../src/dashboard/api/books-types.ts';
import {
  PAGE_ROWS,
  readNewRows,
} from '../../../../../src/dashboard/pages/requests/read-new-rows.ts';

const START_MS = Date.UTC(2027, 2, 1);

const rowAt = (ms: number, id = `req_${ms}`) =>
  ({ id, time: new Date(START_MS + ms).toISOString(), kind: 'charge' }) as ListedRequest;

/** Rows that came so often until now, the newest first. */
const listRows = (everyMs: number, untilMs: number) =>
  Array.from({ length: 500 }, (_, index) => rowAt(untilMs - index * everyMs));

/** Reads pages of the rows, as the admin API does. */
function createReader(rows: readonly ListedRequest[]) {
  const reader = {
    pages: 0,
    async read(before = '0'): Promise<RequestList> {
      reader.pages += 1;
      const start = Number(before);
      const data = rows.slice(start, start + PAGE_ROWS);
      const isLast = start + PAGE_ROWS >= rows.length;
      return {
        ...{ data, next: isLast ? null : String(start + PAGE_ROWS) },
        looked_back_to: isLast ? null : (data.at(-1)?.time ?? null),
        ...{ books_until: null, booksTime: { until: null, answeredMs: 0, readMs: 0 } },
      };
    },
  };
  return reader;
}

it('a row that comes late is found behind pages of rows that are known', async () => {
  const known = listRows(30, 100_000);
  const late = rowAt(97_999, 'req_refused');
  const rows = [rowAt(100_010), ...known, late].toSorted((one, other) =>
    other.time.localeCompare(one.time),
  );
  const reader = createReader(rows);
  const found = await readNewRows(known, reader.read);
  expect(found.rows.map(({ id }) => id)).toEqual(['req_100010', 'req_refused']);
});

it('rows from before the list began are not new', async () => {
  const rows = listRows(30, 100_000);
  const found = await readNewRows(rows.slice(1, 1 + PAGE_ROWS), createReader(rows).read);
  expect(found.rows).toEqual(rows.slice(0, 1));
  const few = await readNewRows(rows.slice(1, 4), createReader(rows.slice(0, 6)).read);
  expect(few.rows.map(({ id }) => id)).toEqual(['req_100000', 'req_99880', 'req_99850']);
});

it('reading ends at the page that reaches far enough back', async () => {
  const known = listRows(1_000, 100_000);
  const reader = createReader([rowAt(100_500), ...known]);
  expect((await readNewRows(known, reader.read)).rows).toHaveLength(1);
  expect(reader.pages).toBe(1);
});

it('however much is new, only so many pages are read', async () => {
  const reader = createReader(listRows(1, 100_000));
  expect((await readNewRows([], reader.read)).rows).toHaveLength(4 * PAGE_ROWS);
  expect(reader.pages).toBe(4);
});

it('reading ends at the end of the list', async () => {
  const rows = listRows(1, 100_000).slice(0, 70);
  const reader = createReader(rows);
  expect((await readNewRows(rows.slice(1), reader.read)).rows).toEqual(rows.slice(0, 1));
  expect(reader.pages).toBe(2);
});
