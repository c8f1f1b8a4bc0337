export interface ChartSeries {
  readonly label: string;
  /** One for each time; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly title: string;
  /** In seconds since 1970, ascending. */
  readonly times: readonly number[];
  /** At most as many as there are colours: five. */
  readonly series: readonly ChartSeries[];
  /** A time of the axis and the table; without it the time of the day. */
  readonly formatTime?: (seconds: number) => string;
  /** A value with its unit. */
  readonly format: (value: number) => string;
}
