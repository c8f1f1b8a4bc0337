import { EmptyState } from '../../parts/empty-state.tsx';
import { LatestRequests } from '../requests/latest-requests.tsx';
import { REVOKED_KEPT_DAYS } from './revoked-kept-days.ts';

/** What the books still know of a key whose record has gone. */
export function ForgottenKey({ id }: { readonly id: string }) {
  return (
    <>
      <EmptyState title="There is no record of this key">
        <p>
          The record of a key goes {REVOKED_KEPT_DAYS} days after it was revoked. Its requests and
          what it spent stay in the books.
        </p>
      </EmptyState>
      <LatestRequests filter={{ key: id }} />
    </>
  );
}
