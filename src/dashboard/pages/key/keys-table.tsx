import type { Key } from '../../api/api-types.ts';
import { formatCreditAmount } from '../../format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { nameKey } from './name-key.ts';

interface KeysTableProps {
  /** The name of the account or the group that has them. */
  readonly owner: string;
  /** The newest first. */
  readonly keys: readonly Key[];
  readonly emptyText: string;
}

export function KeysTable({ owner, keys, emptyText }: KeysTableProps) {
  return (
    <DataTable
      caption={`Keys of ${owner}, the newest first`}
      rows={keys}
      keyOf={({ id }) => id}
      emptyText={emptyText}
      columns={[
        { title: 'Key', cell: (key) => <a href={`#/keys/${key.id}`}>{nameKey(key)}</a> },
        { title: 'Status', cell: (key) => <Badge state={key.status} /> },
        {
          title: 'Spent this month',
          cell: (key) => formatCreditAmount(key.spent_this_month),
          isNumber: true,
        },
        {
          title: 'Monthly cap',
          cell: ({ monthly_cap: cap }) => (cap === null ? 'none' : formatCreditAmount(cap)),
          isNumber: true,
        },
        { title: 'Held', cell: ({ held }) => formatCreditAmount(held), isNumber: true },
        { title: 'Created', cell: (key) => <Moment iso={key.created_at} /> },
      ]}
    />
  );
}
