import type { ConfiguredSets, LabelSets, LabelValues } from './metric-declaration.ts';

const OTHER = 'other';
/**
 * The limit of one metric. The product of its label sets is rarely reached, and clients cannot add
 * to any set.
 */
const SERIES_MAX = 10_000;

interface OneSeries<Cell> {
  readonly labels: Readonly<Record<string, string>>;
  readonly cell: Cell;
}

export interface Series<Labels extends LabelSets, Cell> {
  /** Creates the series if it is new. Callers that come often should keep the result. */
  at(values: LabelValues<Labels>): Cell;
  all(): Iterable<OneSeries<Cell>>;
}

/**
 * The series of one metric. With at most one label, all exist from the start, with nothing counted.
 */
export function createSeries<Labels extends LabelSets, Cell>(
  labels: Labels,
  configured: ConfiguredSets,
  createCell: () => Cell,
): Series<Labels, Cell> {
  const names = Object.keys(labels);
  const onlyName = names.length === 1 ? names[0] : undefined;
  const sets = new Map(
    Object.entries(labels).map(([name, set]) => [
      name,
      typeof set === 'string' ? configured[set] : new Set(set),
    ]),
  );
  const series = new Map<string, OneSeries<Cell>>();

  const keyOf = (values: Readonly<Record<string, string>>): string => {
    // An existing text has its hash already; a text that is just put together does not.
    if (onlyName !== undefined) return values[onlyName] ?? OTHER;
    let key = '';
    for (const name of names) key += `${values[name] ?? OTHER}\n`;
    return key;
  };

  const find = (values: Readonly<Record<string, string>>): Cell =>
    series.get(keyOf(values))?.cell ?? findClosed(values);

  /** Puts `other` in the place of every value that is not declared. */
  const findClosed = (values: Readonly<Record<string, string>>): Cell => {
    const closed: Record<string, string> = {};
    for (const name of names) {
      const value = values[name] ?? OTHER;
      closed[name] = sets.get(name)?.has(value) === true ? value : OTHER;
    }
    const key = keyOf(closed);
    const known = series.get(key);
    if (known !== undefined) return known.cell;
    if (series.size >= SERIES_MAX && Object.values(closed).some((value) => value !== OTHER)) {
      return find({});
    }
    const cell = createCell();
    series.set(key, { labels: closed, cell });
    return cell;
  };

  if (names.length === 0) find({});
  if (onlyName !== undefined) {
    for (const value of sets.get(onlyName) ?? []) find({ [onlyName]: value });
  }

  return { at: find, all: () => series.values() };
}
