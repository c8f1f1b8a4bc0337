import { formatCreditAmount } from '../../format.ts';
import { LoadView } from '../../parts/load-view.tsx';
import { useReceipt } from '../requests/use-receipt.ts';

/**
 * Shows what a finished request was charged, from its receipt. The request may be settled a moment
 * later.
 */
export function ChargeText({ requestId }: { readonly requestId: string }) {
  const load = useReceipt(requestId);
  if (load.problem?.code === 'request_not_found') {
    return <>nothing: it was refused before it was admitted</>;
  }
  return (
    <LoadView load={load}>
      {({ charged }) =>
        charged === undefined ? <>being settled…</> : <>{formatCreditAmount(charged)} credits</>
      }
    </LoadView>
  );
}
