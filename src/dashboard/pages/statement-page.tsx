import { api } from '../api/api.ts';
import { formatMonth } from '../format.ts';
import { useLoad } from '../loading/use-load.ts';
import { usePageName } from '../page-name.ts';
import { AsOf } from '../parts/as-of.tsx';
import { LoadView } from '../parts/load-view.tsx';
import { SaveButton } from '../parts/save-button.tsx';
import type { PageProps } from './page-props.ts';
import { StatementView } from './statement/statement-view.tsx';

/** The statement of one account and month, made to be printed. */
export function StatementPage({ id, month }: PageProps) {
  const load = useLoad((signal) => api.readStatement(id, month, signal), { of: [id, month] });
  const { value: statement } = load;
  usePageName(
    statement && `${statement.account_name || id}: statement of ${formatMonth(statement.month)}`,
  );
  const path = `/accounts/${encodeURIComponent(id)}/statements/${encodeURIComponent(month)}`;
  const name = `statement-${id}-${month}`;
  return (
    <>
      <p class="not-printed">
        <a href={`#/accounts/${id}`}>Back to the account</a>
      </p>
      <LoadView load={load}>
        {(value) => (
          <>
            <div class="bar-of-buttons">
              <button type="button" class="primary" onClick={() => window.print()}>
                Print
              </button>
              <SaveButton path={path} query={{ format: 'csv' }} name={`${name}.csv`}>
                Save as CSV
              </SaveButton>
              <SaveButton path={path} query={{ format: 'html' }} name={`${name}.html`}>
                Save as a page
              </SaveButton>
            </div>
            <AsOf time={value.booksTime} isUtc />
            <StatementView statement={value} />
          </>
        )}
      </LoadView>
    </>
  );
}
