/** As answers write times. */
export function showTime(ms: number): string {
  return new Date(ms).toISOString();
}
