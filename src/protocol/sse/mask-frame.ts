import { asBuffer } from '../../lib/bytes/as-buffer.ts';

/** Hides what clients must not read in a text of an upstream that is about a failure. */
export type MaskText = (text: string) => string;

/** What is larger is no text about a failure. */
const MASKED_BYTES_MAX = 64 * 1024;

/** The same for a frame of a stream, which is no part of the answer. */
export function maskFrame(bytes: Uint8Array, maskText: MaskText): Uint8Array {
  if (bytes.length > MASKED_BYTES_MAX) return bytes;
  const text = asBuffer(bytes).toString('utf8');
  const masked = maskText(text);
  return masked === text ? bytes : Buffer.from(masked);
}
