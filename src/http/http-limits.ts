/** Every bound of the HTTP layer. */
export interface HttpLimits {
  /** The bytes of one request body. */
  readonly bodyBytesMax: number;
  /** The time from the request's head to the last byte of its body. */
  readonly bodyTimeMaxMs: number;
  /** The bytes of all bodies that one worker holds at a time. */
  readonly bodiesHeldBytesMax: number;
  /**
   * The part of them that bodies may hold while they arrive from clients whose key this worker does
   * not know.
   */
  readonly strangersHeldBytesMax: number;
  /**
   * How many bytes over the limit of a body are read and thrown away, so that its sender can read
   * the 413.
   */
  readonly bodyDiscardedBytesMax: number;
  /**
   * How many bytes may be written to a stream while its client is slow, not counting the chunk that
   * made it wait.
   */
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
 * The bytes of a body that go into one cork. Builds of uWS before 20.64 lose bytes when a cork of
 * over 16 KiB meets a full socket. At 12 KiB, 3 KiB remain for the head of the answer, up to a
 * total of 15 KiB.
 */
export const SLICE_BYTES_MAX = 12 * 1024;
export const HEADER_VALUE_CHARS_MAX = 512;

/**
 * uWS closes a connection that moves too little data within 8 to 12 s, for whatever reason.
 * Touching the connection more often than that leaves the decision to the limits above.
 */
export const KEEP_OPEN_INTERVAL_MS = 3_000;
