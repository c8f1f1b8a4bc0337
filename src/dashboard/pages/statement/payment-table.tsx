import type { StatementPayment } from '../../api/books-types.ts';
import { formatCreditAmount, formatName } from '../../format.ts';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';

interface PaymentTableProps {
  readonly payments: readonly StatementPayment[];
  /** Whether a heading says the same as the caption. */
  readonly isTitled?: boolean;
}

export function PaymentTable({ payments, isTitled = false }: PaymentTableProps) {
  return (
    <DataTable
      caption="Payments"
      rows={payments}
      keyOf={({ id }) => id}
      isTitled={isTitled}
      emptyText="Nothing was paid in this month"
      columns={[
        { title: 'Time, UTC', cell: ({ time }) => <Moment iso={time} isUtc /> },
        { title: 'Kind', cell: ({ kind }) => formatName(kind) },
        { title: 'Payment', cell: ({ id }) => <code>{id}</code>, isProse: true },
        { title: 'Note', cell: ({ note }) => note ?? '', isProse: true },
        { title: 'Credits', cell: ({ amount }) => formatCreditAmount(amount), isNumber: true },
        { title: 'Balance', cell: ({ balance }) => formatCreditAmount(balance), isNumber: true },
      ]}
    />
  );
}
