import '../../styles/gauge.css';
import { api } from '../../api/api.ts';
import type { Account, UsageReport } from '../../api/api-types.ts';
import { readInTurn } from '../../api/read-in-turn.ts';
import {
  formatCount,
  formatCreditAmount,
  formatDay,
  formatFigure,
  formatShare,
} from '../../format.ts';
import { Chart } from '../../parts/chart.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { useLoad } from '../../use-load.ts';
import type { Period } from './period.ts';
import { ShownRows } from './shown-rows.tsx';
import { fillDays, readUsageRows, type UsageRow } from './usage-rows.ts';

const MS_PER_SECOND = 1_000;

interface AccountUsageProps {
  readonly account: Account;
  readonly period: Period;
  /** The usage is read again for each turn. */
  readonly turn: number;
}

export function AccountUsage({ account: { id }, period, turn }: AccountUsageProps) {
  const { from } = period;
  const load = useLoad(
    async (signal) => {
      const sum = (by: 'day' | 'model' | 'key') =>
        readInTurn(signal, () => api.sumUsage({ account: id, from, by }, signal));
      return { days: await sum('day'), models: await sum('model'), keys: await sum('key') };
    },
    { of: [id, from, turn] },
  );
  return (
    <LoadView load={load}>
      {({ days, models, keys }) => (
        <>
          {!days.is_complete && (
            <p>A part of the ledger is on another node: these sums are not complete.</p>
          )}
          <UsageCharts rows={fillDays(readUsageRows(days), period.days)} />
          <UsageTable what="Model" usage={models} />
          <UsageTable what="Key" usage={keys} />
        </>
      )}
    </LoadView>
  );
}

function UsageCharts({ rows }: { readonly rows: readonly UsageRow[] }) {
  const times = rows.map(({ name }) => Date.parse(name) / MS_PER_SECOND);
  const lines = (label: string, read: (row: UsageRow) => number) => {
    return { label, values: rows.map(read) };
  };
  return (
    <div class="charts">
      <Chart
        title="Credits a day"
        times={times}
        series={[lines('credits', ({ charged }) => charged)]}
        format={formatCreditAmount}
        formatTime={formatDay}
      />
      <Chart
        title="Requests a day"
        times={times}
        series={[lines('requests', ({ requests }) => requests)]}
        format={formatFigure}
        formatTime={formatDay}
      />
      <Chart
        title="Tokens a day"
        times={times}
        series={[
          lines('input', ({ tokensIn }) => tokensIn),
          lines('output', ({ tokensOut }) => tokensOut),
        ]}
        format={formatFigure}
        formatTime={formatDay}
      />
    </div>
  );
}

interface UsageTableProps {
  readonly what: 'Model' | 'Key';
  readonly usage: UsageReport;
}

/** Shows bars beside their figures, the largest first. */
function UsageTable({ what, usage }: UsageTableProps) {
  const sorted = readUsageRows(usage).toSorted((one, other) => other.charged - one.charged);
  const total = usage.total.charged;
  return (
    <>
      <h3>By {what.toLowerCase()}</h3>
      <ShownRows rows={sorted}>
        {(shown) => (
          <DataTable
            caption={`Usage by ${what.toLowerCase()}`}
            rows={shown}
            keyOf={({ name }) => name}
            emptyText="Nothing was used in these days"
            columns={[
              { title: what, cell: ({ name }) => showName(what, name) },
              {
                title: 'Share',
                cell: ({ name, charged }) => <Share {...{ name, charged, total }} />,
              },
              { title: 'Credits', cell: (row) => formatCreditAmount(row.charged), isNumber: true },
              { title: 'Requests', cell: (row) => formatCount(row.requests), isNumber: true },
              { title: 'Tokens in', cell: (row) => formatCount(row.tokensIn), isNumber: true },
              { title: 'Tokens out', cell: (row) => formatCount(row.tokensOut), isNumber: true },
              { title: 'Short', cell: (row) => formatCreditAmount(row.short), isNumber: true },
            ]}
          />
        )}
      </ShownRows>
    </>
  );
}

interface ShareProps {
  readonly name: string;
  readonly charged: number;
  /** The sum of all rows, including the rows that are not shown. */
  readonly total: number;
}

function Share({ name, charged, total }: ShareProps) {
  const share = total > 0 ? charged / total : 0;
  return (
    <span class="share">
      <meter aria-label={`Credits of ${name}, as a share of all`} max={1} value={share} />
      {formatShare(share)}
    </span>
  );
}

function showName(what: UsageTableProps['what'], name: string) {
  return what === 'Key' ? <a href={`#/keys/${name}`}>{name}</a> : name;
}
