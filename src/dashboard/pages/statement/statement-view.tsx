import type { Statement } from '../../api/books-types.ts';
import { BY_KEY, BY_MODEL } from '../usage/usage-subjects.ts';
import { UsageTable } from '../usage/usage-table.tsx';
import { PaymentTable } from './payment-table.tsx';
import { StatementFigures } from './statement-figures.tsx';

const NOTHING = 'Nothing was charged in this month';

export function StatementView({ statement }: { readonly statement: Statement }) {
  const { is_closed: isClosed, incomplete, payments, by_model: models, by_key: keys } = statement;
  return (
    <>
      {!isClosed && <p>The month is not closed: requests and payments may still be added.</p>}
      {incomplete && (
        <p>Entries were lost: requests and payments before the end of the month may be missing.</p>
      )}
      <StatementFigures statement={statement} />
      <h2>Payments</h2>
      <PaymentTable payments={payments} isTitled />
      <h2>By model</h2>
      <UsageTable
        caption="Charged by model"
        subject={BY_MODEL}
        rows={models}
        detail="statement"
        emptyText={NOTHING}
      />
      <h2>By key</h2>
      <UsageTable
        caption="Charged by key"
        subject={BY_KEY}
        rows={keys}
        detail="statement"
        emptyText={NOTHING}
      />
    </>
  );
}
