import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Account, Group, Key, KeyList } from '../../api/api-types.ts';
import { mayAct } from '../../api/session.ts';
import { formatCount } from '../../format.ts';
import { showLimitTexts } from '../../limit-texts.ts';
import { type Load, useLoad } from '../../loading/use-load.ts';
import { LoadView } from '../../parts/load-view.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { GroupForm, NO_BOUNDS } from '../groups/group-form.tsx';
import { ShownRows } from './shown-rows.tsx';

interface AccountGroupsProps {
  readonly account: Account;
  readonly keys: Load<KeyList>;
}

/** Lists the projects or teams of an account, each with how many keys it has. */
export function AccountGroups({ account: { id, name }, keys }: AccountGroupsProps) {
  const groups = useLoad((signal) => api.listGroups(id, signal), { of: [id] });
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <h2>Groups</h2>
      {mayAct('operator') && (
        <p>
          <button type="button" onClick={() => setCreating(true)}>
            Create a group
          </button>
        </p>
      )}
      <LoadView load={groups}>
        {({ data }) => (
          <ShownRows rows={data.toReversed()}>
            {(rows) => <GroupsTable account={name} groups={rows} keys={keys.value?.data} />}
          </ShownRows>
        )}
      </LoadView>
      {isCreating && (
        <GroupForm
          title={`Create a group of ${name}`}
          verb="Create"
          before={NO_BOUNDS}
          onClose={() => setCreating(false)}
          onSubmit={async (controls) => {
            await api.createGroup(id, controls);
            groups.reload();
          }}
        />
      )}
    </>
  );
}

interface GroupsTableProps {
  readonly account: string;
  readonly groups: readonly Group[];
  /** Undefined until they are known. */
  readonly keys: readonly Key[] | undefined;
}

function GroupsTable({ account, groups, keys }: GroupsTableProps) {
  const counts = countKeys(keys ?? []);
  return (
    <DataTable
      caption={`Groups of ${account}, the newest first`}
      rows={groups}
      keyOf={({ id }) => id}
      emptyText="This account has no group yet"
      columns={[
        { title: 'Group', cell: ({ id, name }) => <a href={`#/groups/${id}`}>{name}</a> },
        {
          title: 'Keys',
          cell: ({ id }) => (keys === undefined ? '–' : formatCount(counts.get(id) ?? 0)),
          isNumber: true,
        },
        {
          title: 'Limits',
          cell: ({ limits }) => showLimitTexts(limits) || 'none',
          isProse: true,
        },
        {
          title: 'Limits of each end user',
          cell: ({ user_limits: limits }) => showLimitTexts(limits) || 'none',
          isProse: true,
        },
        { title: 'Created', cell: (group) => <Moment iso={group.created_at} /> },
      ]}
    />
  );
}

/** How many keys each group has. Those that are revoked do not count. */
function countKeys(keys: readonly Key[]): ReadonlyMap<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const { group, status } of keys) {
    if (status !== 'revoked') counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return counts;
}
