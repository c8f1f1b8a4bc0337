import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Account } from '../../api/api-types.ts';
import type { UsageReport, UsageRow } from '../../api/books-types.ts';
import { dayAfter } from '../../days.ts';
import { chooseDayFormat, formatCount, formatCreditAmount, formatShare } from '../../format.ts';
import { untilVisible } from '../../loading/until-visible.ts';
import { useLoad } from '../../loading/use-load.ts';
import { AsOf } from '../../parts/as-of.tsx';
import { Figures } from '../../parts/figures.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { SaveButton } from '../../parts/save-button.tsx';
import { SpendChart } from '../usage/spend-chart.tsx';
import {
  type DayRange,
  listChartDays,
  type RangeChoice,
  RangeFields,
  resolveRange,
} from '../usage/usage-range.tsx';
import { BY_KEY, BY_MODEL, type UsageSubject } from '../usage/usage-subjects.ts';
import { UsageTable } from '../usage/usage-table.tsx';
import { ShownRows } from './shown-rows.tsx';

const DAYS = 30;
const REFRESH_MS = 10_000;
const MS_PER_SECOND = 1_000;
const NOTHING = 'Nothing was used in these days';

interface UsageReports {
  readonly range: DayRange;
  readonly days: UsageReport;
  readonly models: UsageReport;
  readonly keys: UsageReport;
  readonly stack: UsageReport;
}

/** Shows what the account used in a range of days: by day, model and key. */
export function AccountUsage({ account: { id } }: { readonly account: Account }) {
  const [choice, setChoice] = useState<RangeChoice>({ lastCount: DAYS });
  const load = useLoad((signal) => readReports(id, choice, signal), {
    of: [id, JSON.stringify(choice)],
    refreshMs: REFRESH_MS,
  });
  const range = load.value?.range ?? resolveRange(choice, Date.now());
  return (
    <>
      <div class="section-head">
        <h2>Usage</h2>
        {load.value !== undefined && <AsOf time={load.value.days.booksTime} />}
      </div>
      <div class="bar-of-buttons">
        <RangeFields {...{ choice, range }} onChange={setChoice} />
        <SaveButton
          path="/usage"
          query={{ ...filterOf(id, range), by: 'day,model', format: 'csv' }}
          name={`usage-${id}-${range.first}-${range.last}.csv`}
        >
          Save as CSV
        </SaveButton>
      </div>
      <LoadView load={load}>{(reports) => <UsageView reports={reports} />}</LoadView>
    </>
  );
}

const filterOf = (account: string, { first, last }: DayRange) => {
  return { account, from: first, to: dayAfter(last) };
};

async function readReports(
  account: string,
  choice: RangeChoice,
  signal: AbortSignal,
): Promise<UsageReports> {
  await untilVisible(signal);
  const range = resolveRange(choice, Date.now());
  const query = filterOf(account, range);
  const sum = (by: string) => api.sumUsage({ ...query, by }, signal);
  const [days, models, keys, stack] = await Promise.all([
    ...[sum('day'), sum('model'), sum('key')],
    sum('day,model'),
  ] as const);
  return { range, days, models, keys, stack };
}

function UsageView({ reports }: { readonly reports: UsageReports }) {
  const { range, days, models, keys, stack } = reports;
  const { charged, requests, failed } = days.total;
  return (
    <>
      <Figures
        figures={[
          { name: 'Credits charged', value: formatCreditAmount(charged) },
          { name: 'Requests', value: formatCount(requests) },
          { name: 'Failed', value: requests === 0 ? '–' : formatShare(failed / requests) },
        ]}
      />
      <SpendChart rows={stack.data} {...listChartDays(range)} />
      <h3>By model</h3>
      <ShownUsage subject={BY_MODEL} rows={models.data.toSorted(byCharge)} total={charged} />
      <h3>By key</h3>
      <ShownUsage subject={BY_KEY} rows={keys.data.toSorted(byCharge)} total={charged} />
      <details>
        <summary>By day</summary>
        <ShownUsage subject={subjectOfDays(range)} rows={days.data.toReversed()} />
      </details>
    </>
  );
}

function subjectOfDays({ first, last }: DayRange): UsageSubject {
  const format = chooseDayFormat(first, last);
  return { what: 'Day', nameOf: ({ day = '' }) => format(Date.parse(day) / MS_PER_SECOND) };
}

const byCharge = (one: UsageRow, other: UsageRow) => other.charged - one.charged;

interface ShownUsageProps {
  readonly subject: UsageSubject;
  readonly rows: readonly UsageRow[];
  readonly total?: number;
}

function ShownUsage({ rows, ...table }: ShownUsageProps) {
  return (
    <ShownRows rows={rows}>
      {(shown) => (
        <UsageTable
          {...table}
          caption={`Usage by ${table.subject.what.toLowerCase()}`}
          rows={shown}
          detail="full"
          emptyText={NOTHING}
        />
      )}
    </ShownRows>
  );
}
