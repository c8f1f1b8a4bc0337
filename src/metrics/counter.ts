import type {
  ConfiguredSets,
  CounterDeclaration,
  LabelSets,
  LabelValues,
} from './metric-declaration.ts';
import type { MetricSnapshot } from './metric-snapshot.ts';
import { createSeries } from './series.ts';

export interface CounterCell {
  /** Not less than 0. */
  add(amount: number): void;
}

export interface Counter<Labels extends LabelSets> {
  at(values: LabelValues<Labels>): CounterCell;
  read(): MetricSnapshot;
}

export function createCounter<Labels extends LabelSets>(
  { name, help, type, labels }: CounterDeclaration<Labels>,
  configured: ConfiguredSets,
): Counter<Labels> {
  const series = createSeries(labels, configured, createCell);
  return {
    at: series.at,
    read() {
      const values = Array.from(series.all(), (each) => ({
        labels: each.labels,
        value: each.cell.read(),
      }));
      return { name, help, type, aggregator: 'sum', values };
    },
  };
}

function createCell() {
  let value = 0;
  return {
    add(amount: number) {
      value += amount;
    },
    read: () => value,
  };
}
