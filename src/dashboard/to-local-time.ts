const MS_PER_MINUTE = 60_000;

/** The time as an input of times has it: in the browser's time zone. Empty if it is none. */
export function toLocalTime(iso: string): string {
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) return '';
  const shiftMs = new Date(ms).getTimezoneOffset() * MS_PER_MINUTE;
  return new Date(ms - shiftMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}
