import type { CatalogueDiff } from '../../api/api-types.ts';
import { DataTable } from '../../parts/tables/data-table.tsx';

type FieldChange = CatalogueDiff['changes'][number];

interface ChangeTableProps {
  readonly caption: string;
  readonly changes: readonly FieldChange[];
}

/** Shows two documents field by field, where they differ. */
export function ChangeTable({ caption, changes }: ChangeTableProps) {
  return (
    <div class="changes">
      <DataTable
        caption={caption}
        rows={changes}
        keyOf={({ field }) => field}
        emptyText="Nothing changes"
        columns={[
          { title: 'Field', cell: ({ field }) => <code>{field}</code>, isProse: true },
          {
            title: 'Before',
            cell: ({ before }) => <Value of={before} side="before" />,
            isProse: true,
          },
          { title: 'After', cell: ({ after }) => <Value of={after} side="after" />, isProse: true },
        ]}
      />
    </div>
  );
}

function Value({ of: value, side }: { readonly of: unknown; readonly side: 'before' | 'after' }) {
  if (value === null) return <>{side === 'before' ? 'none' : 'removed'}</>;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return side === 'before' ? <del>{text}</del> : <ins>{text}</ins>;
}
