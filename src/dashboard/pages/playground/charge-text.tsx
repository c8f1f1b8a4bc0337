import { formatCreditAmount } from '../../format.ts';
import { LoadView } from '../../parts/load-view.tsx';
import { useReceipt } from '../requests/use-receipt.ts';

const REFUSED = 'nothing: it was refused before it was admitted';

/**
 * Shows what a finished request was charged, from its receipt. The request may be settled a moment
 * later.
 */
export function ChargeText({ requestId }: { readonly requestId: string }) {
  const load = useReceipt(requestId);
  if (load.problem?.code === 'request_not_found') return <>{REFUSED}</>;
  return (
    <LoadView load={load}>
      {({ charged, kind }) => {
        if (kind === 'refused') return <>{REFUSED}</>;
        if (charged === undefined) return <>being settled…</>;
        return <>{formatCreditAmount(charged)} credits</>;
      }}
    </LoadView>
  );
}
