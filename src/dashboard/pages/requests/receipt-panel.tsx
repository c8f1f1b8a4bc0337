import { useEffect, useRef } from 'preact/hooks';
import { IdText } from '../../parts/id-text.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { ReceiptView } from './receipt-view.tsx';
import { useReceipt } from './use-receipt.ts';

interface ReceiptPanelProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** The receipt beside the list; on a phone it stands below. It takes the focus when it opens. */
export function ReceiptPanel({ id, onClose }: ReceiptPanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to take the focus
    <section class="receipt" aria-label={`Receipt of ${id}`} tabIndex={0}>
      <div class="receipt-head">
        <h2 ref={heading} tabIndex={-1}>
          Receipt
        </h2>
        <button type="button" class="small" onClick={onClose}>
          Close
        </button>
      </div>
      <p>
        <IdText id={id} />
      </p>
      <LoadView load={useReceipt(id)}>{(receipt) => <ReceiptView receipt={receipt} />}</LoadView>
    </section>
  );
}
