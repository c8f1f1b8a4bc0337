import type { Role } from '../../lib/role.ts';
import type { Secret } from '../../lib/secret.ts';

/** How people sign in with accounts of an OpenID provider. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret: Secret | undefined;
  /** Where browsers reach the dashboard, with the path `/oidc/callback`. */
  readonly redirectUrl: string;
  /** The claim that holds the role: its name, or names with dots between. */
  readonly roleClaim: string;
  /** Roles by the value of the claim. */
  readonly roles: Readonly<Record<string, Role>>;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly sessionMs: number;
}
