import { LoadView } from '../parts/load-view.tsx';
import type { PageProps } from './page-props.ts';
import { ReceiptView } from './requests/receipt-view.tsx';
import { RequestSearch } from './requests/request-search.tsx';
import { useReceipt } from './requests/use-receipt.ts';

export function RequestsPage({ id }: PageProps) {
  return (
    <>
      <RequestSearch id={id} />
      {id !== '' && <FoundRequest id={id} />}
    </>
  );
}

function FoundRequest({ id }: PageProps) {
  return (
    <LoadView load={useReceipt(id)}>{(receipt) => <ReceiptView receipt={receipt} />}</LoadView>
  );
}
