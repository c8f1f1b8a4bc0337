import { api } from '../api/api.ts';
import type { Group } from '../api/api-types.ts';
import { useLoad } from '../loading/use-load.ts';
import { usePageName } from '../page-name.ts';
import { LoadView } from '../parts/load-view.tsx';
import { ShownRows } from './account/shown-rows.tsx';
import { GroupHead } from './groups/group-head.tsx';
import { KeysTable } from './key/keys-table.tsx';
import { SharedLimitList } from './limits/limit-list.tsx';
import type { PageProps } from './page-props.ts';
import { LatestRequests } from './requests/latest-requests.tsx';

const REFRESH_MS = 5_000;
/** An account may have thousands of keys. */
const KEYS_REFRESH_MS = 30_000;

export function GroupPage({ id }: PageProps) {
  const group = useLoad((signal) => api.getGroup(id, signal), { of: [id], refreshMs: REFRESH_MS });
  usePageName(group.value?.name);
  return (
    <LoadView load={group}>
      {(value) => (
        <>
          <GroupHead group={value} onChanged={group.reload} />
          <SharedLimitList of="group" id={id} />
          <GroupKeys group={value} />
          <LatestRequests filter={{ account: value.account, group: id }} />
        </>
      )}
    </LoadView>
  );
}

function GroupKeys({ group: { id, name, account } }: { readonly group: Group }) {
  const keys = useLoad((signal) => api.listKeys(account, signal), {
    of: [account],
    refreshMs: KEYS_REFRESH_MS,
  });
  return (
    <>
      <h2>Keys</h2>
      <LoadView load={keys}>
        {({ data }) => (
          <ShownRows rows={data.filter(({ group }) => group === id).toReversed()}>
            {(rows) => (
              <KeysTable owner={name} keys={rows} emptyText="No key belongs to this group yet" />
            )}
          </ShownRows>
        )}
      </LoadView>
    </>
  );
}
