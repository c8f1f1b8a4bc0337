/** The candidate that `word` is probably a typing error for, if one is close enough to suggest. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  const distanceMax = word.length <= 4 ? 1 : 2;
  let nearest: string | undefined;
  let nearestDistance = distanceMax + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > distanceMax) continue;
    const distance = editDistance(word, candidate);
    if (distance < nearestDistance) [nearest, nearestDistance] = [candidate, distance];
  }
  return nearest;
}

/**
 * How many insertions, deletions, replacements and swaps of neighbours turn one word into the
 * other.
 */
function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const costs = [
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
        ...(isSwap ? [(beforePrevious[column - 2] ?? 0) + 1] : []),
      ];
      current.push(Math.min(...costs));
    }
    [beforePrevious, previous] = [previous, current];
  }
  return previous[to.length] ?? 0;
}
