/** In the form that answers use. */
export function showTime(ms: number): string {
  return new Date(ms).toISOString();
}
