/** The UTC month of a time, `yyyymm`, according to JavaScript's own calendar. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7).replace('-', '');
}
