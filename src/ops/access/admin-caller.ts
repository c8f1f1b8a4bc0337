import type { Role } from '../../lib/role.ts';

/** How somebody shows who they are. */
export const CALLER_KINDS = ['admin_token', 'operator_token', 'session'] as const;

export type CallerKind = (typeof CALLER_KINDS)[number];

/** Somebody who may use the admin API. */
export interface AdminCaller {
  readonly kind: CallerKind;
  readonly role: Role;
  /** Null for the admin token, which several people may have. */
  readonly operator: { readonly id: string; readonly name: string } | null;
  /** Identifies the token without revealing it. Null for a session and a short token. */
  readonly token: string | null;
  /** When the session ends. Null for a token, which has no end. */
  readonly untilMs: number | null;
}
