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
  createLastDays,
  type DayRange,
  listChartDays,
  RangeFields,
} from '../usage/usage-range.tsx';
import { BY_KEY, BY_MODEL, type UsageSubject } from '../usage/usage-subjects.ts';
import { UsageTable } from '../usage/usage-table.tsx';
import { ShownRows } from './shown-rows.tsx';

const DAYS = 30;
const REFRESH_MS = 10_000;
const MS_PER_SECOND = 1_000;
const NOTHING = 'Nothing was used in these days';

interface UsageReports {
  readonly days: UsageReport;
  readonly models: UsageReport;
  readonly keys: UsageReport;
  readonly stack: UsageReport;
}

/** Shows what the account used in a range of days: by day, model and key. */
export function AccountUsage({ account: { id } }: { readonly account: Account }) {
  const [range, setRange] = useState(() => createLastDays(DAYS, Date.now()));
  const query = { account: id, from: range.first, to: dayAfter(range.last) };
  const load = useLoad((signal) => readReports(query, signal), {
    of: [id, range.first, range.last],
    refreshMs: REFRESH_MS,
  });
  return (
    <>
      <div class="section-head">
        <h2>Usage</h2>
        {load.value !== undefined && <AsOf time={load.value.days.booksTime} />}
      </div>
      <div class="bar-of-buttons">
        <RangeFields range={range} onChange={setRange} />
        <SaveButton
          path="/usage"
          query={{ ...query, by: 'day,model', format: 'csv' }}
          name={`usage-${id}-${range.first}-${range.last}.csv`}
        >
          Save as CSV
        </SaveButton>
      </div>
      <LoadView load={load}>{(reports) => <UsageView reports={reports} range={range} />}</LoadView>
    </>
  );
}

type Filter = Readonly<Record<'account' | 'from' | 'to', string>>;

async function readReports(query: Filter, signal: AbortSignal): Promise<UsageReports> {
  await untilVisible(signal);
  const sum = (by: string) => api.sumUsage({ ...query, by }, signal);
  const [days, models, keys, stack] = await Promise.all([
    ...[sum('day'), sum('model'), sum('key')],
    sum('day,model'),
  ] as const);
  return { days, models, keys, stack };
}

interface UsageViewProps {
  readonly reports: UsageReports;
  readonly range: DayRange;
}

function UsageView({ reports: { days, models, keys, stack }, range }: UsageViewProps) {
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
