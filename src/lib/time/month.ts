/** The UTC month, `yyyymm`, as the scripts write it. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7).replace('-', '');
}
