export const AUDIT_VIAS = ['api', 'cli', 'signal'] as const;

/** Who changed something. */
export interface Operator {
  readonly via: (typeof AUDIT_VIAS)[number];
  /** Tells tokens apart without telling them; null where none is needed. */
  readonly token: string | null;
  readonly address: string | null;
}

/** One change by an operator, without secrets. */
export interface AuditEntry {
  readonly what: string;
  readonly who: Operator;
  /** The node that was asked. */
  readonly node: string;
  readonly account: string | null;
  readonly key: string | null;
  /** `unknown` when Redis went away before it told whether the change took place. */
  readonly outcome: 'done' | 'unknown';
  readonly before: object | null;
  readonly after: object | null;
}

/** As it stands in the log. */
export interface AuditRecord extends AuditEntry {
  /** Its place: `1763740800000-0`. */
  readonly id: string;
  /** By the clock of Redis. */
  readonly atMs: number;
}
