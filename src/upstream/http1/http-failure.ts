export type HttpFailureKind =
  /** All connections that may be open are in use. */
  | 'connections_exhausted'
  /** The client is closed. */
  | 'client_closed'
  | 'connect_failed'
  | 'connect_timeout'
  | 'tls_failed'
  /** The connection ended before a byte of the answer came. */
  | 'closed_early'
  /** The connection ended in the middle of the answer. */
  | 'truncated'
  /** The answer is not HTTP/1.1, or two readers could understand it differently. */
  | 'malformed'
  | 'too_large_head';

export interface HttpFailure {
  readonly kind: HttpFailureKind;
  /** Whether no byte of the request was sent, so that no server can have begun to work on it. */
  readonly isSafeToRepeat: boolean;
  /** For the log: the system's name of the error, or its message. */
  readonly reason: string;
}

/**
 * A kept connection that closes as its next request begins never shows here, because the request is
 * repeated at once.
 */
const SAFE_TO_REPEAT: readonly HttpFailureKind[] = [
  'connections_exhausted',
  'client_closed',
  'connect_failed',
  'connect_timeout',
  'tls_failed',
];

export function createHttpFailure(kind: HttpFailureKind, reason: string): HttpFailure {
  return { kind, isSafeToRepeat: SAFE_TO_REPEAT.includes(kind), reason };
}
