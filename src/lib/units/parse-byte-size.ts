const UNITS_BYTES = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
  ['', 1],
] as const;

/** Reads `32MiB`, `512KiB`, `1GiB` or a plain whole number as bytes. */
export function parseByteSize(text: string): number {
  const match = /^(0|[1-9]\d*)(KiB|MiB|GiB|)$/.exec(text);
  const unitBytes = UNITS_BYTES.find(([unit]) => unit === match?.[2])?.[1];
  if (unitBytes === undefined) {
    throw new Error('must be a size such as 1048576, 512KiB, 32MiB or 1GiB');
  }
  const bytes = Number(match?.[1]) * unitBytes;
  if (!Number.isSafeInteger(bytes)) throw new Error('is too large a size');
  return bytes;
}

/** Writes whole bytes in the largest unit that loses nothing. */
export function formatByteSize(bytes: number): string {
  for (const [unit, unitBytes] of UNITS_BYTES) {
    if (bytes >= unitBytes && bytes % unitBytes === 0) return `${bytes / unitBytes}${unit}`;
  }
  return String(bytes);
}
