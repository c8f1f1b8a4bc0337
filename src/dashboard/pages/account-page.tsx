import { useState } from 'preact/hooks';
import { api } from '../api/api.ts';
import type { Account } from '../api/api-types.ts';
import { useLoad } from '../loading/use-load.ts';
import { usePageName } from '../page-name.ts';
import { LoadView } from '../parts/load-view.tsx';
import { SaveButton } from '../parts/save-button.tsx';
import { AccountGroups } from './account/account-groups.tsx';
import { AccountHead } from './account/account-head.tsx';
import { AccountKeys } from './account/account-keys.tsx';
import { AccountStatements } from './account/account-statements.tsx';
import { AccountUsage } from './account/account-usage.tsx';
import { SharedLimitList } from './limits/limit-list.tsx';
import type { PageProps } from './page-props.ts';
import { LatestRequests } from './requests/latest-requests.tsx';

const REFRESH_MS = 5_000;
/** An account may have thousands of keys. */
const KEYS_REFRESH_MS = 30_000;

export function AccountPage({ id }: PageProps) {
  const account = useLoad((signal) => api.getAccount(id, signal), {
    of: [id],
    refreshMs: REFRESH_MS,
  });
  usePageName(account.value?.name);
  const [payments, setPayments] = useState(0);
  return (
    <LoadView load={account}>
      {(value) => (
        <>
          <AccountHead
            account={value}
            onChanged={account.reload}
            onPaid={() => setPayments((count) => count + 1)}
          />
          <SharedLimitList of="account" id={id} />
          <KeysAndGroups account={value} />
          <AccountUsage account={value} />
          <AccountStatements account={value} payments={payments} />
          <LatestRequests filter={{ account: id }} />
          <SaveButton path="/ledger" query={{ account: id }} name={`ledger-${id}.ndjson`}>
            Save the whole ledger as NDJSON
          </SaveButton>
        </>
      )}
    </LoadView>
  );
}

/** Reads the keys once for both. */
function KeysAndGroups({ account }: { readonly account: Account }) {
  const { id } = account;
  const keys = useLoad((signal) => api.listKeys(id, signal), {
    of: [id],
    refreshMs: KEYS_REFRESH_MS,
  });
  return (
    <>
      <AccountKeys account={account} keys={keys} />
      <AccountGroups account={account} keys={keys} />
    </>
  );
}
