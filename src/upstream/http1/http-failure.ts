export type HttpFailureKind =
  /** As many requests as there may be connections are running. */
  | 'connections_exhausted'
  /** The client was closed before. */
  | 'client_closed'
  | 'connect_failed'
  | 'connect_timeout'
  | 'tls_failed'
  /** The connection ended before a byte of the answer came. */
  | 'closed_early'
  /** The connection ended inside of the answer. */
  | 'truncated'
  /** The answer is no HTTP/1.1, or two readers could understand it differently. */
  | 'malformed'
  | 'too_large_head';

export interface HttpFailure {
  readonly kind: HttpFailureKind;
  /** No byte of the request was sent: nobody can have begun to work on it. */
  readonly isSafeToRepeat: boolean;
  /** For the log: the system's name of the error or its message. */
  readonly reason: string;
}

/** A kept connection that was closed under a request never shows here: that request has been repeated already. */
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
