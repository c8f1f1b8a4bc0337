const FLOAT_BYTES = 4;

/** Writes numbers as base64 of little-endian floats of 32 bits. */
export function encodeFloats(numbers: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * FLOAT_BYTES);
  for (let i = 0; i < numbers.length; i++) bytes.writeFloatLE(numbers[i] ?? 0, i * FLOAT_BYTES);
  return bytes.toString('base64');
}

/** How long the text of this many numbers is, without its padding: some leave that out. */
export function countBase64Chars(numbers: number): number {
  return Math.ceil((numbers * FLOAT_BYTES * 4) / 3);
}

/** Whether a text can be a list of numbers. */
export function hasFloats(base64: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return false;
  const bytes = Buffer.byteLength(base64, 'base64');
  return bytes > 0 && bytes % FLOAT_BYTES === 0;
}

/** Returns `undefined` if the text is not a list of numbers. */
export function decodeFloats(base64: string): readonly number[] | undefined {
  if (!hasFloats(base64)) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  const numbers = Array.from({ length: bytes.length / FLOAT_BYTES }, (_, i) =>
    bytes.readFloatLE(i * FLOAT_BYTES),
  );
  return numbers.every(Number.isFinite) ? numbers : undefined;
}
