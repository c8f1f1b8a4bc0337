/** What one step brings or copies at most. */
const RUN_MAX = 255;
/** Fewer bytes are not worth the three of a step. */
const COPY_MIN = 4;
/** So much longer or shorter may be what comes before: a number that takes more bytes than in the base. */
const SHIFT_MAX = 8;

/** What the delta of so many bytes takes at most. */
export function deltaBytesMax(length: number): number {
  return length + 3 * (Math.floor(length / RUN_MAX) + 1);
}

/**
 * Writes what `bytes` has that `base` has not at about the same place; answers the offset behind it. For records with the
 * same fields in the same order: of the 200 bytes of a settlement, 40 to 50 are left.
 *
 *   step: how many bytes are new, these bytes, how far the place in the base moves, how many bytes are as there
 */
export function encodeDelta(
  bytes: Uint8Array,
  base: Uint8Array,
  target: Uint8Array,
  targetOffset: number,
): number {
  let end = targetOffset;
  let at = 0;
  let lead = 0;
  while (at < bytes.length) {
    const start = at;
    const newEnd = Math.min(bytes.length, start + RUN_MAX);
    let shift: number | undefined;
    for (; at < newEnd; at++) {
      shift = findShift(bytes, at, base, at + lead);
      if (shift !== undefined) break;
    }
    target[end++] = at - start;
    for (let from = start; from < at; from++) target[end++] = bytes[from] ?? 0;
    lead += shift ?? 0;
    const count = shift === undefined ? 0 : countSame(bytes, at, base, at + lead);
    target[end++] = SHIFT_MAX + (shift ?? 0);
    target[end++] = count;
    at += count;
  }
  return end;
}

/** Fills `bytes` with what `encodeDelta` was given; answers the offset behind the delta. */
export function decodeDelta(
  source: Uint8Array,
  sourceOffset: number,
  base: Uint8Array,
  bytes: Uint8Array,
): number {
  let from = sourceOffset;
  let at = 0;
  let lead = 0;
  while (at < bytes.length) {
    for (let left = source[from++] ?? 0; left > 0; left--) bytes[at++] = source[from++] ?? 0;
    lead += (source[from++] ?? 0) - SHIFT_MAX;
    for (let left = source[from++] ?? 0; left > 0; left--) {
      bytes[at] = base[at + lead] ?? 0;
      at++;
    }
  }
  return from;
}

/** The nearest one that is worth a step. */
function findShift(
  bytes: Uint8Array,
  at: number,
  base: Uint8Array,
  baseAt: number,
): number | undefined {
  if (isSame(bytes, at, base, baseAt)) return 0;
  for (let shift = 1; shift <= SHIFT_MAX; shift++) {
    if (isSame(bytes, at, base, baseAt + shift)) return shift;
    if (isSame(bytes, at, base, baseAt - shift)) return -shift;
  }
  return undefined;
}

function isSame(bytes: Uint8Array, at: number, base: Uint8Array, baseAt: number): boolean {
  if (baseAt < 0 || baseAt + COPY_MIN > base.length || at + COPY_MIN > bytes.length) return false;
  for (let i = 0; i < COPY_MIN; i++) if (bytes[at + i] !== base[baseAt + i]) return false;
  return true;
}

function countSame(bytes: Uint8Array, at: number, base: Uint8Array, baseAt: number): number {
  const countMax = Math.min(RUN_MAX, bytes.length - at, base.length - baseAt);
  let count = 0;
  while (count < countMax && bytes[at + count] === base[baseAt + count]) count++;
  return count;
}
