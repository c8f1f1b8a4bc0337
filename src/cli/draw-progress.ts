const CELLS = 24;

/** A bar for a terminal, such as `accounts [######......] 50 %`. */
export function drawProgress(what: string, done: number, total: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const full = Math.floor(share * CELLS);
  return `${what} [${'#'.repeat(full)}${'.'.repeat(CELLS - full)}] ${Math.floor(share * 100)} %`;
}
