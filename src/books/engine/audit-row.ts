/** An entry of the audit log. */
export interface AuditRow {
  /** The writer's own id; it survives a failover, which the place in the stream does not. */
  readonly entry: string;
  readonly ms: number;
  readonly seq: number;
  readonly what: string;
  readonly via: string;
  readonly token: string | null;
  readonly address: string | null;
  readonly node: string;
  readonly account: string | null;
  readonly key: string | null;
  readonly outcome: string;
  /** JSON. */
  readonly before: string | null;
  readonly after: string | null;
  /** Null for the admin token, and in entries of earlier versions. */
  readonly operator: string | null;
  readonly operator_name: string | null;
}
