/** Asking the engine costs as much as looking at so many characters one by one. */
const SHORT_CHARS_MAX = 24;

/** What the text takes in UTF-8. Each half of a character that two pieces share stands for half of its bytes. */
export function countUtf8Bytes(text: string): number {
  if (text.length <= SHORT_CHARS_MAX && isAscii(text)) return text.length;
  const bytes = Buffer.byteLength(text);
  if (bytes === text.length) return bytes;
  // The engine counts a lone half as the three bytes of what replaces it.
  const isCutAtStart = isLowHalf(text.charCodeAt(0));
  const isCutAtEnd = isHighHalf(text.charCodeAt(text.length - 1));
  return bytes - (isCutAtStart ? 1 : 0) - (isCutAtEnd ? 1 : 0);
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x80) return false;
  return true;
}

const isHighHalf = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
const isLowHalf = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
