import { api } from '../../api/api.ts';
import type { Account } from '../../api/api-types.ts';
import { listMonths } from '../../days.ts';
import { formatMonth } from '../../format.ts';
import { useLoad } from '../../loading/use-load.ts';
import { AsOf } from '../../parts/as-of.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { SaveButton } from '../../parts/save-button.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { PaymentTable } from '../statement/payment-table.tsx';
import { StatementFigures } from '../statement/statement-figures.tsx';
import { ShownRows } from './shown-rows.tsx';

const REFRESH_MS = 5_000;

interface AccountStatementsProps {
  readonly account: Account;
  /** How many payments were entered on this page. The month is read again after each. */
  readonly payments: number;
}

/** Shows the current month, and leads to the statement of each month. */
export function AccountStatements({ account, payments }: AccountStatementsProps) {
  const { id, created_at: createdAt } = account;
  const [month = '', ...earlier] = listMonths(createdAt, Date.now());
  const load = useLoad((signal) => api.readStatement(id, month, signal), {
    of: [id, month, payments],
    refreshMs: REFRESH_MS,
  });
  return (
    <>
      <div class="section-head">
        <h2>This month</h2>
        {load.value !== undefined && <AsOf time={load.value.booksTime} />}
      </div>
      <LoadView load={load}>
        {(statement) => (
          <>
            <StatementFigures statement={statement} />
            <PaymentTable payments={statement.payments.toReversed()} />
          </>
        )}
      </LoadView>
      <h2>Statements</h2>
      <ShownRows rows={[month, ...earlier]}>
        {(months) => <StatementTable account={id} months={months} />}
      </ShownRows>
    </>
  );
}

interface StatementTableProps {
  readonly account: string;
  readonly months: readonly string[];
}

function StatementTable({ account, months }: StatementTableProps) {
  return (
    <DataTable
      caption="Statements, UTC months, the newest first"
      rows={months}
      keyOf={(month) => month}
      emptyText="There is no statement yet"
      columns={[
        {
          title: 'Month',
          cell: (month) => (
            <a href={`#/accounts/${account}/statements/${month}`}>{formatMonth(month)}</a>
          ),
        },
        {
          title: 'File',
          cell: (month) => (
            <SaveButton
              path={`/accounts/${account}/statements/${month}`}
              query={{ format: 'csv' }}
              name={`statement-${account}-${month}.csv`}
            >
              CSV
            </SaveButton>
          ),
        },
      ]}
    />
  );
}
