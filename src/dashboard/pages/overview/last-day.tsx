import { api } from '../../api/api.ts';
import type { RefusalsReport, UsageReport } from '../../api/books-types.ts';
import { listLastDays, startOfHours } from '../../days.ts';
import { formatCount, formatCreditAmount, formatName, formatShare } from '../../format.ts';
import { untilVisible } from '../../loading/until-visible.ts';
import { useLoad } from '../../loading/use-load.ts';
import { AsOf } from '../../parts/as-of.tsx';
import { Figures } from '../../parts/figures.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { SpendChart } from '../usage/spend-chart.tsx';
import { BY_ACCOUNT } from '../usage/usage-subjects.ts';
import { UsageTable } from '../usage/usage-table.tsx';

const REFRESH_MS = 30_000;
const HOURS = 24;
const DAYS = 14;
const ACCOUNTS_MAX = 5;

interface LastDayReports {
  readonly accounts: UsageReport;
  readonly refusals: RefusalsReport;
  readonly models: UsageReport;
  readonly days: readonly string[];
  /** The beginning of the first hour. */
  readonly from: string;
}

/** Shows what the books say of the last 24 hours of all nodes, and the spend of the last days. */
export function LastDay() {
  const load = useLoad(readReports, { refreshMs: REFRESH_MS });
  return (
    <LoadView load={load}>
      {({ accounts, refusals, models, days, from }) => (
        <>
          <div class="section-head">
            <h2>Last {HOURS} hours</h2>
            <AsOf time={accounts.booksTime} />
          </div>
          <p>
            Full hours, since <Moment iso={from} />
          </p>
          <DayFigures {...{ accounts, refusals }} />
          <div class="pair">
            <TopAccounts usage={accounts} />
            <RefusalTable refusals={refusals} />
          </div>
          <h2>Spend of the last {DAYS} days</h2>
          <SpendChart rows={models.data} days={days} />
        </>
      )}
    </LoadView>
  );
}

async function readReports(signal: AbortSignal): Promise<LastDayReports> {
  await untilVisible(signal);
  const from = startOfHours(HOURS, Date.now());
  const days = listLastDays(DAYS, Date.now());
  const [accounts, refusals, models] = await Promise.all([
    api.sumUsage({ by: 'account', order: 'charged', limit: ACCOUNTS_MAX, from }, signal),
    api.countRefusals({ by: 'refusal', from }, signal),
    api.sumUsage({ by: 'day,model', from: days[0] }, signal),
  ]);
  return { accounts, refusals, models, days, from };
}

function DayFigures({ accounts, refusals }: Pick<LastDayReports, 'accounts' | 'refusals'>) {
  const { charged, requests, failed, cost, margin } = accounts.total;
  return (
    <Figures
      figures={[
        { name: 'Credits charged', value: formatCreditAmount(charged) },
        { name: 'Requests', value: formatCount(requests) },
        { name: 'Failed', value: requests === 0 ? '–' : formatShare(failed / requests) },
        { name: 'Refused', value: formatCount(refusals.total) },
        ...(cost === null || margin === null
          ? []
          : [{ name: 'Margin', value: formatCreditAmount(margin) }]),
      ]}
    />
  );
}

function TopAccounts({ usage }: { readonly usage: UsageReport }) {
  return (
    <section>
      <h3>Top accounts</h3>
      <UsageTable
        caption="Accounts that were charged most, in the last 24 hours"
        subject={BY_ACCOUNT}
        rows={usage.data}
        emptyText="No account was charged"
        total={usage.total.charged}
        detail="brief"
      />
    </section>
  );
}

function RefusalTable({ refusals }: { readonly refusals: RefusalsReport }) {
  return (
    <section>
      <h3>Refusals by reason</h3>
      <DataTable
        caption="Refusals of the last 24 hours, by reason"
        rows={refusals.data.toSorted((one, other) => other.count - one.count)}
        keyOf={({ refusal = '' }) => refusal}
        emptyText="Nothing was refused"
        isTitled
        columns={[
          { title: 'Reason', cell: ({ refusal = '' }) => formatName(refusal) },
          { title: 'Requests', cell: ({ count }) => formatCount(count), isNumber: true },
        ]}
      />
    </section>
  );
}
