import type { OperatorList } from '../../api/api-types.ts';
import { Badge } from '../../parts/badge.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';

/** What can be revoked: a token or a session. */
export interface Revocable {
  readonly id: string;
  readonly name: string;
}

interface TableProps<Row> {
  readonly rows: readonly Row[];
  /** Undefined if who is signed in may not revoke. */
  readonly onRevoke: ((row: Revocable) => void) | undefined;
}

export function OperatorTable({ rows, onRevoke }: TableProps<OperatorList['data'][number]>) {
  return (
    <DataTable
      caption="Operators, the oldest first"
      rows={rows}
      keyOf={({ id }) => id}
      emptyText="Nobody has a token of their own yet"
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Role', cell: ({ role }) => role },
        { title: 'Status', cell: ({ status }) => <Badge state={status} /> },
        { title: 'Created', cell: (row) => <Moment iso={row.created_at} /> },
        {
          title: 'Last used',
          cell: ({ used_at: used }) => (used === null ? 'never' : <Moment iso={used} />),
        },
        { title: 'Id', cell: ({ id }) => <code>{id}</code> },
        ...(onRevoke === undefined
          ? []
          : [
              {
                title: 'Revoke',
                cell: (row: OperatorList['data'][number]) =>
                  row.status === 'active' ? (
                    <RevokeButton row={row} onRevoke={onRevoke} />
                  ) : (
                    <Moment iso={row.revoked_at ?? row.created_at} />
                  ),
              },
            ]),
      ]}
    />
  );
}

export function SessionTable({ rows, onRevoke }: TableProps<OperatorList['sessions'][number]>) {
  if (rows.length === 0) return null;
  return (
    <DataTable
      caption="Signed in with an account"
      rows={rows}
      keyOf={({ id }) => id}
      emptyText=""
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Role', cell: ({ role }) => role },
        { title: 'Since', cell: (row) => <Moment iso={row.created_at} /> },
        { title: 'Until', cell: ({ until }) => <Moment iso={until} /> },
        { title: 'Account', cell: ({ subject }) => <code>{subject}</code> },
        ...(onRevoke === undefined
          ? []
          : [
              {
                title: 'Revoke',
                cell: (row: Revocable) => <RevokeButton row={row} onRevoke={onRevoke} />,
              },
            ]),
      ]}
    />
  );
}

interface RevokeButtonProps {
  readonly row: Revocable;
  readonly onRevoke: (row: Revocable) => void;
}

function RevokeButton({ row, onRevoke }: RevokeButtonProps) {
  return (
    <button
      type="button"
      class="danger"
      aria-label={`Revoke ${row.name}`}
      onClick={() => onRevoke(row)}
    >
      Revoke
    </button>
  );
}
