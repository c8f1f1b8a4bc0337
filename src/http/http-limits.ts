/** Every bound of the HTTP layer. */
export interface HttpLimits {
  /** The bytes of one request body. */
  readonly bodyBytesMax: number;
  /** The time from the request's head to the last byte of its body. */
  readonly bodyTimeMaxMs: number;
  /** The bytes of all bodies that one worker holds at a time. */
  readonly bodiesHeldBytesMax: number;
  /**
   * The part of them that bodies may hold while they arrive from clients whose account this worker
   * does not know.
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
  /** The bytes of all whole answers of one worker that wait for their clients to read them. */
  readonly answersBlockedBytesMax: number;
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
  answersBlockedBytesMax: 256 * 1024 * 1024,
  writeStallMaxMs: 30_000,
};

/**
 * The bytes that go into one cork, the head of an answer included. Builds of uWS before 20.64 lose
 * bytes when a cork of over 16 KiB meets a full socket. 512 bytes are left for what uWS adds: the
 * date, its name, and what frames a body.
 */
export const CORK_BYTES_MAX = 16 * 1024 - 512;
/** A slice of a body, with a head that nobody has measured. */
export const SLICE_BYTES_MAX = CORK_BYTES_MAX - 3_584;
export const HEADER_VALUE_CHARS_MAX = 512;

/**
 * uWS closes a connection that moves too little data within 8 to 12 s, for whatever reason.
 * Touching the connection more often than that leaves the decision to the limits above.
 */
export const KEEP_OPEN_INTERVAL_MS = 3_000;
