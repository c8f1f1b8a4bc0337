import { useState } from 'preact/hooks';
import { api } from '../api/api.ts';
import { usePages } from '../loading/use-pages.ts';
import { Moment } from '../parts/moment.tsx';
import { PagedTable } from '../parts/tables/paged-table.tsx';
import { AuditSubject, ChangeList, OperatorText } from './audit/audit-cells.tsx';
import { type AuditFilterFields, AuditFilterForm } from './audit/audit-filter-form.tsx';

const PAGE_ROWS = 50;

export function AuditLogPage() {
  const [filter, setFilter] = useState<AuditFilterFields>({ account: '', key: '' });
  const pages = usePages(
    (before, signal) => api.readAudit({ ...filter, before, limit: PAGE_ROWS }, signal),
    JSON.stringify(filter),
  );
  return (
    <>
      <AuditFilterForm onFilter={setFilter} />
      <PagedTable
        caption="What operators changed, the newest first"
        pages={pages}
        keyOf={({ id }) => id}
        emptyText="Nothing was changed"
        columns={[
          { title: 'Time', cell: ({ at }) => <Moment iso={at} /> },
          { title: 'What', cell: ({ what }) => <code>{what}</code> },
          { title: 'Change', cell: (entry) => <ChangeList entry={entry} />, isProse: true },
          { title: 'Of', cell: (entry) => <AuditSubject entry={entry} /> },
          { title: 'By', cell: (entry) => <OperatorText entry={entry} />, isProse: true },
        ]}
      />
    </>
  );
}
