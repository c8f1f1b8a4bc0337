import { asBuffer } from '../../lib/bytes/as-buffer.ts';

/** Hides what clients must not see in an upstream's text about a failure. */
export type MaskText = (text: string) => string;

/** A larger frame is not a message about a failure. */
const MASKED_BYTES_MAX = 64 * 1024;

/** Masks a frame of a stream that is not part of the answer. */
export function maskFrame(bytes: Uint8Array, maskText: MaskText): Uint8Array {
  if (bytes.length > MASKED_BYTES_MAX) return bytes;
  const text = asBuffer(bytes).toString('utf8');
  const masked = maskText(text);
  return masked === text ? bytes : Buffer.from(masked);
}
