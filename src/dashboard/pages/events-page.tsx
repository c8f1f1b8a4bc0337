import { useEffect, useState } from 'preact/hooks';
import { api } from '../api/api.ts';
import { listenToEvents, reopenings } from '../api/events.ts';
import { mayAct } from '../api/session.ts';
import { useLoad } from '../loading/use-load.ts';
import { usePages } from '../loading/use-pages.ts';
import { LoadView } from '../parts/load-view.tsx';
import { Moment } from '../parts/moment.tsx';
import { PagedTable } from '../parts/tables/paged-table.tsx';
import { describeEvent } from './events/describe-event.ts';
import { EventBadge, EventSubject } from './events/event-cells.tsx';
import { ALL_EVENTS, EventFilterForm } from './events/event-filter-form.tsx';
import { WebhookTable } from './events/webhook-table.tsx';

const PAGE_ROWS = 50;
const REFRESH_MS = 5_000;

/** Shows the events of limits and balances, and the webhooks that receive them. */
export function EventsPage() {
  const [filter, setFilter] = useState(ALL_EVENTS);
  const [newCount, setNewCount] = useState(0);
  const [readAt, setReadAt] = useState(reopenings.value);
  const webhooks = useLoad((signal) => api.listWebhooks(signal), { refreshMs: REFRESH_MS });
  const pages = usePages(
    (before, signal) => api.listLimitEvents({ ...filter, before, limit: PAGE_ROWS }, signal),
    JSON.stringify(filter),
  );
  useEffect(
    () =>
      listenToEvents(({ event, data }) => {
        if (event !== 'limit') return;
        const isShown =
          (filter.account === '' || filter.account === data.account) &&
          (filter.type === '' || filter.type === data.type);
        if (isShown) setNewCount((count) => count + 1);
      }),
    [filter],
  );
  const isPartUnseen = reopenings.value !== readAt;
  const forgetNew = () => {
    setNewCount(0);
    setReadAt(reopenings.value);
  };
  const showNew = () => {
    forgetNew();
    pages.reload();
  };
  return (
    <>
      <EventFilterForm
        onFilter={(next) => {
          forgetNew();
          setFilter(next);
        }}
      />
      <p role="status">
        {(newCount > 0 || isPartUnseen) && (
          <button type="button" onClick={showNew}>
            {isPartUnseen ? 'Look for new events' : countNew(newCount)}
          </button>
        )}
      </p>
      <PagedTable
        caption="Events of limits and balances, the newest first"
        pages={pages}
        keyOf={({ id }) => id}
        emptyText="There are no events yet"
        columns={[
          { title: 'Time', cell: ({ at }) => <Moment iso={at} /> },
          { title: 'What', cell: (row) => <EventBadge event={row} /> },
          { title: 'Of', cell: (row) => <EventSubject event={row} /> },
          { title: 'How much', cell: (row) => describeEvent(row), isProse: true },
        ]}
      />
      <LoadView load={webhooks}>
        {({ data }) => (
          <WebhookTable rows={data} onTest={mayAct('operator') ? api.testWebhook : undefined} />
        )}
      </LoadView>
    </>
  );
}

function countNew(count: number): string {
  return count === 1 ? 'Show 1 new event' : `Show ${count} new events`;
}
