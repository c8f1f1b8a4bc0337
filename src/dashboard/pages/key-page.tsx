import { api } from '../api/api.ts';
import { useLoad } from '../loading/use-load.ts';
import { usePageName } from '../page-name.ts';
import { LoadView } from '../parts/load-view.tsx';
import { ForgottenKey } from './key/forgotten-key.tsx';
import { KeyHead } from './key/key-head.tsx';
import { nameKey } from './key/name-key.ts';
import { KeyLimitList } from './limits/limit-list.tsx';
import type { PageProps } from './page-props.ts';
import { LatestRequests } from './requests/latest-requests.tsx';

const REFRESH_MS = 2_000;
const NOT_FOUND = 'key_not_found';

export function KeyPage({ id }: PageProps) {
  const key = useLoad((signal) => api.getKey(id, signal), {
    of: [id],
    refreshMs: REFRESH_MS,
    lastCode: NOT_FOUND,
  });
  usePageName(key.value && nameKey(key.value));
  if (key.problem?.code === NOT_FOUND) return <ForgottenKey id={id} />;
  return (
    <LoadView load={key}>
      {(value) => (
        <>
          <KeyHead shown={value} onChanged={key.reload} />
          <KeyLimitList id={id} />
          <LatestRequests filter={{ account: value.account, key: id }} />
        </>
      )}
    </LoadView>
  );
}
