const MS_PER_DAY = 86_400_000;
const MS_PER_HOUR = 3_600_000;

/** A UTC day: `2027-01-31`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'yyyy-mm-dd'.length);
}

/** How many UTC days there are from the first to the last; 0 if the last is before the first. */
export function countSpannedDays(first: string, last: string): number {
  return Math.max(0, Math.round((Date.parse(last) - Date.parse(first)) / MS_PER_DAY) + 1);
}

/** The UTC days from the first to the last, ascending; none if the last is before the first. */
export function spanDays(first: string, last: string): readonly string[] {
  return spanLastDays(first, last, Number.POSITIVE_INFINITY);
}

/** The same, without the days before the last `countMax`. */
export function spanLastDays(first: string, last: string, countMax: number): readonly string[] {
  const length = Math.min(countSpannedDays(first, last), countMax);
  const startMs = Date.parse(last) - (length - 1) * MS_PER_DAY;
  return Array.from({ length }, (_, index) => dayOf(startMs + index * MS_PER_DAY));
}

/** The last `count` UTC days, including today. */
export function listLastDays(count: number, nowMs: number): readonly string[] {
  return spanDays(dayOf(nowMs - (count - 1) * MS_PER_DAY), dayOf(nowMs));
}

export function dayAfter(day: string): string {
  return dayOf(Date.parse(day) + MS_PER_DAY);
}

/** The beginning of the last `count` hours; the current hour is one of them. */
export function startOfHours(count: number, nowMs: number): string {
  const hour = Math.floor(nowMs / MS_PER_HOUR) - (count - 1);
  return new Date(hour * MS_PER_HOUR).toISOString();
}

/** The UTC months from that of the time until now, such as `2027-01`; the newest first. */
export function listMonths(since: string, nowMs: number): readonly string[] {
  const numberOf = (date: Date) => date.getUTCFullYear() * 12 + date.getUTCMonth();
  const [first, last] = [numberOf(new Date(since)), numberOf(new Date(nowMs))];
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, index) => {
    const month = last - index;
    return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`;
  });
}
