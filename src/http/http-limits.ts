/** Every bound of the HTTP layer. */
export interface HttpLimits {
  /** One request body. */
  readonly bodyBytesMax: number;
  /** From the request's head to the last byte of its body. */
  readonly bodyTimeMaxMs: number;
  /** All bodies that one worker holds at a time. */
  readonly bodiesHeldBytesMax: number;
  /** Those among them that are still arriving from clients whose key this worker does not know. */
  readonly strangersHeldBytesMax: number;
  /** What is read and thrown away of a body over its limit, so that its sender can read the 413. */
  readonly bodyDiscardedBytesMax: number;
  /** What may be written to a stream that waits for its client, beside the chunk that made it wait. */
  readonly streamQueueBytesMax: number;
  /** How long a client may read nothing while an answer waits for it. */
  readonly writeStallMaxMs: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  bodyBytesMax: 32 * 1024 * 1024,
  bodyTimeMaxMs: 60_000,
  bodiesHeldBytesMax: 512 * 1024 * 1024,
  strangersHeldBytesMax: 64 * 1024 * 1024,
  bodyDiscardedBytesMax: 128 * 1024 * 1024,
  streamQueueBytesMax: 256 * 1024,
  writeStallMaxMs: 30_000,
};

/**
 * What goes into one cork: uWS loses bytes when a cork of over 16 KiB meets a full socket
 * (builds before 20.64). The rest of 15 KiB is left to the head of the answer.
 */
export const SLICE_BYTES_MAX = 12 * 1024;
export const HEADER_VALUE_CHARS_MAX = 512;

/**
 * uWS closes a connection that moves too little within 8 to 12 s, whatever the reason. Touching it more
 * often than that leaves the decision to the limits above.
 */
export const KEEP_OPEN_INTERVAL_MS = 3_000;
