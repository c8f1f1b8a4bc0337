import type { Statement } from '../../api/books-types.ts';
import { formatCreditAmount } from '../../format.ts';
import { Figures } from '../../parts/figures.tsx';

/** Opening balance + paid in − charged = closing balance. */
export function StatementFigures({ statement }: { readonly statement: Statement }) {
  const { opening_balance: opening, closing_balance: closing, paid, charged } = statement;
  return (
    <Figures
      figures={[
        { name: 'Opening balance', value: formatCreditAmount(opening) },
        { name: 'Paid in', value: formatCreditAmount(paid) },
        { name: 'Charged', value: formatCreditAmount(charged) },
        {
          name: statement.is_closed ? 'Closing balance' : 'Balance so far',
          value: formatCreditAmount(closing),
        },
      ]}
    />
  );
}
