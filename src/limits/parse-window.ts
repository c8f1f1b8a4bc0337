import { CALENDAR_WINDOWS, type CalendarWindow, type LimitWindow } from './limit.ts';

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const WINDOW_MIN_MS = UNITS_MS.s;
const WINDOW_MAX_MS = 31 * UNITS_MS.d;

export function isCalendarWindow(text: string): text is CalendarWindow {
  return (CALENDAR_WINDOWS as readonly string[]).includes(text);
}

/** Undefined for a text such as `0s` or `fortnight`. */
export function parseWindow(text: string): LimitWindow | undefined {
  if (isCalendarWindow(text)) return text;
  const [, count = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  if (unit === '') return undefined;
  const ms = Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
  return ms >= WINDOW_MIN_MS && ms <= WINDOW_MAX_MS ? ms : undefined;
}

/** The shortest text that `parseWindow` reads as this window. */
export function formatWindow(window: LimitWindow): string {
  if (typeof window !== 'number') return window;
  const { s, m, h, d } = UNITS_MS;
  if (window % d === 0) return `${window / d}d`;
  if (window % h === 0) return `${window / h}h`;
  return window % m === 0 ? `${window / m}m` : `${window / s}s`;
}
