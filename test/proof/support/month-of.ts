/** The UTC month of a time, `yyyymm`, as JavaScript's own calendar has it. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7).replace('-', '');
}
