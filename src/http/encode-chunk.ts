const BYTES_PER_CHAR_MAX = 3;
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Encodes a text for a write that is over before the next call. New memory for each text would
 * have to be collected: up to a fifth of the worker's time in bursts of 50 events
 * (`bench/NOTES.md`, "Bodies, answers, streams").
 */
export function encodeChunk(text: string): Uint8Array {
  if (text.length * BYTES_PER_CHAR_MAX > SCRATCH.length) return Buffer.from(text);
  return SCRATCH.subarray(0, SCRATCH.write(text));
}
