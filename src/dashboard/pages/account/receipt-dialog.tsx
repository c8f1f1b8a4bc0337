import { api } from '../../api/api.ts';
import type { Receipt } from '../../api/api-types.ts';
import { formatCount, formatCreditAmount, formatMs, formatName } from '../../format.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { Moment } from '../../parts/moment.tsx';
import { useLoad } from '../../use-load.ts';
import { isPayment, type LedgerEntry } from './ledger-line.ts';

const MICROS_PER_CREDIT = 1_000_000;

interface ReceiptDialogProps {
  readonly entry: LedgerEntry;
  readonly onClose: () => void;
}

/** Shows what happened to the request of a ledger entry, or what was paid. */
export function ReceiptDialog({ entry, onClose }: ReceiptDialogProps) {
  return (
    <Dialog
      title={isPayment(entry) ? 'Receipt of a payment' : 'Receipt of a request'}
      onClose={onClose}
    >
      {isPayment(entry) ? <PaymentFacts entry={entry} /> : <RequestFacts id={entry.request} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function PaymentFacts({ entry }: { readonly entry: LedgerEntry }) {
  const showMicros = (micros: number) =>
    `${formatCreditAmount(micros / MICROS_PER_CREDIT)} credits`;
  return (
    <Facts
      facts={[
        { name: 'Payment', value: <code key="id">{entry.request}</code> },
        { name: 'Kind', value: formatName(entry.kind) },
        { name: 'Entered', value: <Moment key="time" iso={entry.time} /> },
        { name: 'Amount', value: showMicros(-entry.charged_micros) },
        { name: 'Balance after it', value: showMicros(entry.balance_micros) },
        { name: 'Note', value: entry.note ?? 'none' },
      ]}
    />
  );
}

function RequestFacts({ id }: { readonly id: string }) {
  const receipt = useLoad((signal) => api.findRequest(id, signal), { of: [id] });
  return (
    <>
      <p>
        <a href={`#/requests/${encodeURIComponent(id)}`}>{id}</a>
      </p>
      <LoadView load={receipt}>{(value) => <Facts facts={describeReceipt(value)} />}</LoadView>
    </>
  );
}

/** The part of a receipt that explains a charge; the request's own page shows the rest. */
interface EndedReceipt {
  readonly kind?: string | null;
  readonly charged?: number;
  readonly short?: number;
  readonly balance_after?: number | null;
  readonly usage?: { readonly input: number; readonly output: number } | null;
  readonly answered?: { readonly upstream: string | null; readonly outcome: string } | null;
  readonly times?: { readonly total_ms: number } | null;
}

function describeReceipt(receipt: Receipt): readonly Fact[] {
  const {
    kind,
    charged,
    short,
    balance_after: balance,
    usage,
    answered,
    times,
  } = receipt as EndedReceipt;
  const showCredits = (value: number | null | undefined) =>
    typeof value === 'number' ? `${formatCreditAmount(value)} credits` : 'not known';
  return [
    { name: 'State', value: formatName(kind ?? receipt.state) },
    { name: 'Key', value: receipt.key ?? 'none' },
    { name: 'Model', value: receipt.model ?? 'none' },
    { name: 'Charged', value: showCredits(charged) },
    { name: 'Held before', value: showCredits(receipt.held) },
    { name: 'Short', value: showCredits(short) },
    { name: 'Balance after it', value: showCredits(balance) },
    { name: 'Tokens in', value: usage ? formatCount(usage.input) : 'not known' },
    { name: 'Tokens out', value: usage ? formatCount(usage.output) : 'not known' },
    { name: 'Upstream', value: answered?.upstream ?? 'not known' },
    { name: 'Outcome', value: answered ? formatName(answered.outcome) : 'not known' },
    { name: 'Took', value: times ? formatMs(times.total_ms) : 'not known' },
  ];
}
