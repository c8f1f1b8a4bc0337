import type { UsageRow } from '../../api/books-types.ts';
import { formatCreditAmount, formatDay } from '../../format.ts';
import { Chart } from '../../parts/charts/chart.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { stackUsage } from './stack-usage.ts';

interface SpendChartProps {
  /** Usage by day and model. */
  readonly rows: readonly UsageRow[];
  /** Every day of the chart. */
  readonly days: readonly string[];
}

export function SpendChart({ rows, days }: SpendChartProps) {
  if (rows.length === 0) return <EmptyState title="Nothing was charged in these days" />;
  return (
    <Chart
      title="Credits by day and model, UTC"
      {...stackUsage(rows, days)}
      format={formatCreditAmount}
      formatTime={formatDay}
      isStacked
    />
  );
}
