const CREDIT_DECIMALS_MAX = 6;
const MS_PER_SECOND = 1_000;
const LOCALE = 'en-GB';

const credits = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: CREDIT_DECIMALS_MAX });
const counts = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const figures = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 3 });
const shares = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 });
const moments = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });
const utcMoments = new Intl.DateTimeFormat(LOCALE, {
  ...({ dateStyle: 'medium', timeStyle: 'medium' } as const),
  timeZone: 'UTC',
});

const days = new Intl.DateTimeFormat(LOCALE, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const fullDays = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeZone: 'UTC' });
const dates = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
const months = new Intl.DateTimeFormat(LOCALE, {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
const clocks = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' });

/** Exact to the micro-credit: `1,234.000001`. */
export const formatCreditAmount = (value: number): string => credits.format(value);
export const formatCount = (value: number): string => counts.format(value);
/** For measured rates and shares: three figures. */
export const formatFigure = (value: number): string =>
  Math.abs(value) >= 1_000 ? counts.format(value) : figures.format(value);

/** For a share of 1: `12.3%`. */
export const formatShare = (value: number): string => shares.format(value);

/**
 * How to write the days of a range, each in seconds since 1970: `31 Dec`, and with the year if the
 * range begins in one year and ends in another. The ends are UTC days: `2027-01-31`.
 */
export function chooseDayFormat(first: string, last: string): (seconds: number) => string {
  const yearOf = (day: string) => day.slice(0, 'yyyy'.length);
  const format = yearOf(first) === yearOf(last) ? days : fullDays;
  return (seconds) => format.format(new Date(seconds * MS_PER_SECOND));
}

/** The time in the browser's time zone. */
export const formatTime = (iso: string): string => moments.format(new Date(iso));

/** The time in UTC, which does not say so itself. */
export const formatUtcTime = (iso: string): string => utcMoments.format(new Date(iso));

/** The time of day in the browser's time zone. */
export const formatTimeOfDay = (iso: string): string => clocks.format(new Date(iso));

/** The day in the browser's time zone. */
export const formatDate = (iso: string): string => dates.format(new Date(iso));

/** The name of a month such as `2027-01`. */
export const formatMonth = (month: string): string => months.format(new Date(`${month}-01`));

/** The time of day, from seconds since 1970. */
export const formatClock = (seconds: number): string =>
  clocks.format(new Date(seconds * MS_PER_SECOND));

export function formatMs(ms: number): string {
  return ms < MS_PER_SECOND ? `${formatFigure(ms)} ms` : `${formatFigure(ms / MS_PER_SECOND)} s`;
}

const UNITS = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3_600 },
  { name: 'min', seconds: 60 },
  { name: 's', seconds: 1 },
];

/** The age in its largest whole unit: `3 h`. */
export function formatAge(sinceIso: string, nowMs: number): string {
  return formatLength(nowMs - Date.parse(sinceIso));
}

/** A length of time in its largest whole unit: `3 h`. */
export function formatLength(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / MS_PER_SECOND));
  const unit = UNITS.find((each) => seconds >= each.seconds);
  return unit === undefined ? '0 s' : `${Math.floor(seconds / unit.seconds)} ${unit.name}`;
}

/** Turns the name of a refusal or a state, which is written for programs, into words. */
export const formatName = (name: string): string => name.replaceAll('_', ' ');
