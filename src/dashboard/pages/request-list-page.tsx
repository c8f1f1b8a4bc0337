import { useEffect, useRef, useState } from 'preact/hooks';
import { AsOf } from '../parts/as-of.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { PageEdge } from '../parts/page-edge.tsx';
import { Problem } from '../parts/problem.tsx';
import { openPlace, placeQuery } from '../route.ts';
import type { PageProps } from './page-props.ts';
import { FilterForm } from './requests/filter-form.tsx';
import { countFilters, type ListFilter, parseFilter, placeOfList } from './requests/list-filter.ts';
import { ReceiptPanel } from './requests/receipt-panel.tsx';
import { RequestSearch } from './requests/request-search.tsx';
import { RequestTable } from './requests/request-table.tsx';
import { LIVE_ROWS_MAX, useRequestList } from './requests/use-request-list.ts';

/** A browser shows no more rows than these without being asked. */
const ENDLESS_ROWS_MAX = 1_000;

/** The requests of the filter in the address, and the receipt of the one that is opened. */
export function RequestListPage({ id }: PageProps) {
  const filter = parseFilter(placeQuery.value);
  const close = () => openPlace(placeOfList(filter));
  useFocusOnClosing(id);
  return (
    <>
      <RequestSearch id={id} onFind={(wanted) => openPlace(placeOfList(filter, wanted))} />
      <div class={id === '' ? 'requests' : 'requests with-receipt'}>
        <ListSide id={id} filter={filter} />
        {id !== '' && <ReceiptPanel key={id} id={id} onClose={close} />}
      </div>
    </>
  );
}

interface ListSideProps {
  readonly id: string;
  readonly filter: ListFilter;
}

function ListSide({ id, filter }: ListSideProps) {
  const [isLive, setLive] = useState(false);
  const list = useRequestList(filter, isLive);
  const { rows, isLoading, problem, hasMore, booksTime, freshKeys, tailProblem } = list;
  const isEmpty = rows.length === 0 && !isLoading && problem === undefined;
  return (
    <div class="list-side">
      <FilterForm
        {...{ filter, problem }}
        onChange={(changed) => openPlace(placeOfList(changed, id))}
      />
      <div class="list-head">
        <label class="live">
          <input
            type="checkbox"
            checked={isLive}
            onChange={(event) => setLive(event.currentTarget.checked)}
          />
          Live
        </label>
        {!isLive && (
          <button type="button" class="small" onClick={list.reload}>
            Read again
          </button>
        )}
        {booksTime !== undefined && <AsOf time={booksTime} />}
      </div>
      <Problem problem={tailProblem} />
      <div class="list-rows">
        {rows.length > 0 && (
          <RequestTable
            caption={isLive ? `Requests, live, the newest ${LIVE_ROWS_MAX} at most` : CAPTION}
            emptyText=""
            chosen={id}
            {...{ rows, filter, freshKeys }}
          />
        )}
        {isEmpty && !hasMore && <NoRequest filter={filter} />}
        <PageEdge pages={list} rowsMax={ENDLESS_ROWS_MAX} />
      </div>
    </div>
  );
}

const CAPTION = 'Requests, the newest first';

function NoRequest({ filter }: { readonly filter: ListFilter }) {
  return countFilters(filter) === 0 ? (
    <EmptyState title="There was no request yet">
      <p>
        Send the first one from the <a href="#/playground">playground</a>.
      </p>
    </EmptyState>
  ) : (
    <EmptyState title="No request fits these filters">
      <a href="#/requests">Show all requests</a>
    </EmptyState>
  );
}

/** When the receipt is closed, the focus returns to the row that had opened it. */
function useFocusOnClosing(id: string): void {
  const last = useRef(id);
  useEffect(() => {
    if (id === '' && last.current !== '') {
      const row = `[data-request="${CSS.escape(last.current)}"]`;
      document.querySelector<HTMLElement>(row)?.focus();
    }
    last.current = id;
  }, [id]);
}
