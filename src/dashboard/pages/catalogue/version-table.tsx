import { mayAct } from '../../api/session.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { describeAuthor, describeOrigin } from './describe-version.ts';
import type { ListedVersion, VersionState } from './list-with-states.ts';

const TONES: Readonly<Record<VersionState, Tone>> = {
  'in force': 'good',
  scheduled: 'warning',
  refused: 'bad',
  withdrawn: 'neutral',
  past: 'neutral',
};

interface VersionTableProps {
  /** The last one first. */
  readonly versions: readonly ListedVersion[];
  readonly onRollBack: (version: number) => void;
}

export function VersionTable({ versions, onRollBack }: VersionTableProps) {
  const last = versions[0]?.version;
  return (
    <DataTable
      caption="Versions that are kept, the last first"
      rows={versions}
      keyOf={({ version }) => String(version)}
      emptyText="There is no version"
      columns={[
        {
          title: 'Version',
          cell: ({ version }) => <a href={`#/catalogue/${version}`}>Version {version}</a>,
        },
        { title: 'State', cell: ({ state }) => <Badge state={state} tone={TONES[state]} /> },
        { title: 'Holds from', cell: ({ from }) => <Moment iso={from} /> },
        { title: 'Applied', cell: (note) => <Moment iso={note.applied_at} /> },
        { title: 'By', cell: describeAuthor },
        { title: 'How', cell: describeOrigin },
        {
          title: 'Action',
          cell: ({ version }) =>
            version === last || !mayAct('operator') ? (
              '–'
            ) : (
              <button
                type="button"
                aria-label={`Roll back to version ${version}`}
                onClick={() => onRollBack(version)}
              >
                Roll back
              </button>
            ),
        },
      ]}
    />
  );
}
