import { api } from '../../api/api.ts';
import { useLoad } from '../../loading/use-load.ts';
import { LoadView } from '../../parts/load-view.tsx';
import { type ListFilter, placeOfList } from './list-filter.ts';
import { RequestTable } from './request-table.tsx';

const ROWS = 10;
const REFRESH_MS = 10_000;

/** The last requests of an account, a group or a key, and the way to all of them. */
export function LatestRequests({ filter }: { readonly filter: ListFilter }) {
  const load = useLoad((signal) => api.listRequests({ ...filter, limit: ROWS }, signal), {
    of: [JSON.stringify(filter)],
    refreshMs: REFRESH_MS,
    lastCode: 'key_not_found',
  });
  return (
    <>
      <h2>Latest requests</h2>
      <LoadView load={load}>
        {({ data }) => (
          <RequestTable
            caption="Latest requests"
            rows={data}
            emptyText="There was no request yet"
            filter={filter}
            isOfOneAccount={filter.account !== undefined}
          />
        )}
      </LoadView>
      <p>
        <a href={`#${placeOfList(filter)}`}>All requests, with filters</a>
      </p>
    </>
  );
}
