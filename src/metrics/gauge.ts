import type {
  ConfiguredSets,
  GaugeDeclaration,
  LabelSets,
  LabelValues,
} from './metric-declaration.ts';
import type { MetricSnapshot } from './metric-snapshot.ts';
import { createSeries } from './series.ts';

type SetValue<Labels extends LabelSets> = (values: LabelValues<Labels>, value: number) => void;

export interface Gauge<Labels extends LabelSets> {
  /** Calls `report` at every scrape. A series that it does not set is absent. */
  watch(report: (set: SetValue<Labels>) => void): void;
  read(): MetricSnapshot;
}

export function createGauge<Labels extends LabelSets>(
  { name, help, type, labels, aggregator }: GaugeDeclaration<Labels>,
  configured: ConfiguredSets,
): Gauge<Labels> {
  const series = createSeries<Labels, { value: number | undefined }>(labels, configured, () => ({
    value: undefined,
  }));
  const reports: ((set: SetValue<Labels>) => void)[] = [];
  return {
    watch(report) {
      reports.push(report);
    },
    read() {
      for (const { cell } of series.all()) cell.value = undefined;
      const set: SetValue<Labels> = (values, value) => {
        series.at(values).value = value;
      };
      for (const report of reports) report(set);
      const values = Array.from(series.all()).flatMap(({ labels: of, cell }) =>
        cell.value === undefined ? [] : [{ labels: of, value: cell.value }],
      );
      return { name, help, type, aggregator, values };
    },
  };
}
