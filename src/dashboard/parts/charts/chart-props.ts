export interface ChartSeries {
  readonly label: string;
  /** One value for each time; null if it is not known. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly title: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  /** At most five, because there are five colours. */
  readonly series: readonly ChartSeries[];
  /** Formats a time on the axis and in the table; the default is the time of day. */
  readonly formatTime?: (seconds: number) => string;
  /** Formats a value with its unit. */
  readonly format: (value: number) => string;
  /** Bars that stand on each other, one for each time, instead of lines. */
  readonly isStacked?: boolean;
}
