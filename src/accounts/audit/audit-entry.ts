export const AUDIT_VIAS = ['api', 'cli', 'signal'] as const;

/** Who changed something. */
export interface Operator {
  readonly via: (typeof AUDIT_VIAS)[number];
  /** Identifies the token without revealing it; null if no token is needed. */
  readonly token: string | null;
  readonly address: string | null;
  /** The person. Null for the admin token, for a signal, and in entries of earlier versions. */
  readonly operator: { readonly id: string; readonly name: string } | null;
}

/** One change by an operator, without secrets. */
export interface AuditEntry {
  readonly what: string;
  readonly who: Operator;
  /** The node that got the request. */
  readonly node: string;
  readonly account: string | null;
  readonly key: string | null;
  /** `unknown` if Redis went away before it answered whether the change took place. */
  readonly outcome: 'done' | 'unknown';
  readonly before: object | null;
  readonly after: object | null;
}

/** An entry as it stands in the log. */
export interface AuditRecord extends AuditEntry {
  /** The id of its place in the stream: `1763740800000-0`. */
  readonly id: string;
  /** By the clock of Redis. */
  readonly atMs: number;
}
