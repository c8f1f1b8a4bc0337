import type { UsageRow } from '../../api/books-types.ts';
import { chooseDayFormat, formatCount, formatCreditAmount } from '../../format.ts';
import { Chart } from '../../parts/charts/chart.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { stackUsage } from './stack-usage.ts';

interface SpendChartProps {
  /** Usage by day and model. */
  readonly rows: readonly UsageRow[];
  /** Every day of the chart. */
  readonly days: readonly string[];
  /** How many earlier days the chart leaves out. */
  readonly missingCount?: number;
}

export function SpendChart({ rows, days, missingCount = 0 }: SpendChartProps) {
  if (rows.length === 0) return <EmptyState title="Nothing was charged in these days" />;
  return (
    <>
      {missingCount > 0 && (
        <p class="notice">
          The chart, its sums and its table are of the last {formatCount(days.length)} days. They
          leave out {formatCount(missingCount)} earlier days of the range.
        </p>
      )}
      <Chart
        title="Credits by day and model, UTC"
        {...stackUsage(rows, days)}
        format={formatCreditAmount}
        formatTime={chooseDayFormat(days[0] ?? '', days.at(-1) ?? '')}
        isStacked
      />
    </>
  );
}
