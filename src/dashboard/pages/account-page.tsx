import { useState } from 'preact/hooks';
import { api } from '../api/api.ts';
import { LoadView } from '../parts/load-view.tsx';
import { useLoad } from '../use-load.ts';
import { AccountHead } from './account/account-head.tsx';
import { AccountKeys } from './account/account-keys.tsx';
import { AccountRecords } from './account/account-records.tsx';
import type { PageProps } from './page-props.ts';

const REFRESH_MS = 5_000;

export function AccountPage({ id }: PageProps) {
  const account = useLoad((signal) => api.getAccount(id, signal), {
    of: [id],
    refreshMs: REFRESH_MS,
  });
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
          <AccountKeys account={value} />
          <AccountRecords account={value} payments={payments} />
        </>
      )}
    </LoadView>
  );
}
