import type { IncomingMessage } from 'node:http';
import type { AuditLog } from '../../accounts/audit/audit-log.ts';
import type { Sessions } from '../../accounts/operators/sessions.ts';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { CallerMemory } from '../access/caller-memory.ts';
import type { createCookies } from '../access/session-cookie.ts';
import type { OpsAnswer } from '../ops-answer.ts';
import type { OidcSettings } from './oidc-settings.ts';

/** `refused` is what somebody sent or may not do; `failed` is a provider or a Redis in trouble. */
type SignInResult = 'begun' | 'done' | 'refused' | 'failed';

export interface OidcOptions {
  /** Undefined if nobody signs in with an account of a provider. */
  readonly oidc: OidcSettings | undefined;
  readonly sessions: Sessions;
  readonly callers: Pick<CallerMemory, 'forgetAll'>;
  readonly audit: Pick<AuditLog, 'add'>;
  /** The id of this node, for the audit log. */
  readonly node: string;
  readonly onSignIn: (result: SignInResult) => void;
  readonly clock: Clock;
}

export interface OidcParts extends OidcOptions {
  readonly oidc: OidcSettings;
  readonly cookies: ReturnType<typeof createCookies>;
  readonly log: Log;
}

export type HandleOidc = (request: IncomingMessage) => Promise<OpsAnswer>;

export const OIDC_PATHS = {
  state: '/oidc',
  signIn: '/oidc/sign-in',
  callback: '/oidc/callback',
  signOut: '/oidc/sign-out',
} as const;
