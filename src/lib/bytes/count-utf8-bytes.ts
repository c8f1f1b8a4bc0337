/**
 * How many bytes the text takes in UTF-8. If a character is split between two pieces of text, each
 * half counts as half of its bytes.
 */
export function countUtf8Bytes(text: string): number {
  const bytes = Buffer.byteLength(text);
  if (bytes === text.length) return bytes;
  // The engine counts a lone half as three bytes, those of its replacement.
  const isCutAtStart = isLowHalf(text.charCodeAt(0));
  const isCutAtEnd = isHighHalf(text.charCodeAt(text.length - 1));
  return bytes - (isCutAtStart ? 1 : 0) - (isCutAtEnd ? 1 : 0);
}

const isHighHalf = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLowHalf = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
