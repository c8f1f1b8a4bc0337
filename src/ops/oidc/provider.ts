import type { Configuration } from 'openid-client';
import type { BegunSignIn } from '../../accounts/operators/sessions.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { OidcSettings } from './oidc-settings.ts';
import { readClaim } from './read-role.ts';

type Client = typeof import('openid-client');

/** An answer of the provider may take this long. */
const ANSWER_TIME_MAX_S = 10;
/** What a provider says about itself is read again after this time. */
const KNOWN_MS = 3_600_000;

/** What the provider has proved about somebody. */
export interface ProvenPerson {
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Talks to the OpenID provider. Errors are those of `openid-client`. */
export interface Provider {
  /** Where the browser goes, and what has to come back. */
  begin(): Promise<{ readonly url: string; readonly signIn: BegunSignIn }>;
  /** Checks what has come back and fetches the claims. `query` begins with a question mark. */
  finish(query: string, signIn: BegunSignIn): Promise<ProvenPerson>;
}

export function createProvider(settings: OidcSettings, clock: Clock): Provider {
  const { redirectUrl, scopes, roleClaim } = settings;
  let known: { readonly sinceMs: number; readonly found: Promise<Configuration> } | undefined;

  /** Sign-ins that begin together ask once. A failure is not kept. */
  const discover = (client: Client): Promise<Configuration> => {
    const nowMs = clock.nowMs();
    if (known !== undefined && nowMs - known.sinceMs < KNOWN_MS) return known.found;
    const found = discoverProvider(client, settings);
    const now = { sinceMs: nowMs, found };
    known = now;
    found.catch(() => {
      if (known === now) known = undefined;
    });
    return found;
  };

  return {
    async begin() {
      const client = await import('openid-client');
      const configuration = await discover(client);
      const signIn: BegunSignIn = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        codeVerifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUrl,
        scope: scopes,
        state: signIn.state,
        nonce: signIn.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(signIn.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, signIn };
    },
    async finish(query, { state, nonce, codeVerifier }) {
      const client = await import('openid-client');
      const configuration = await discover(client);
      const tokens = await client.authorizationCodeGrant(
        configuration,
        new URL(query, redirectUrl),
        {
          ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier },
          idTokenExpected: true,
        },
      );
      const claims = tokens.claims() ?? { sub: '' };
      const { sub } = claims;
      const hasRole = readClaim(claims, roleClaim) !== undefined;
      if (hasRole || configuration.serverMetadata().userinfo_endpoint === undefined) {
        return { subject: sub, claims };
      }
      // Many providers list groups only here.
      const more = await client.fetchUserInfo(configuration, tokens.access_token, sub);
      return { subject: sub, claims: { ...more, ...claims } };
    },
  };
}

async function discoverProvider(
  client: Client,
  { issuer, clientId, clientSecret }: OidcSettings,
): Promise<Configuration> {
  const url = new URL(issuer);
  // The settings allow plain HTTP on this machine only.
  const execute = url.protocol === 'http:' ? [client.allowInsecureRequests] : [];
  const options = { execute, timeout: ANSWER_TIME_MAX_S };
  const found = await client.discovery(url, clientId, undefined, client.None(), options);
  const server = found.serverMetadata();
  const configuration = new client.Configuration(
    server,
    clientId,
    undefined,
    authenticate(client, clientSecret?.reveal(), server.token_endpoint_auth_methods_supported),
  );
  for (const change of execute) change(configuration);
  configuration.timeout = ANSWER_TIME_MAX_S;
  // The signature of an ID token is checked, even if it came over TLS.
  client.enableNonRepudiationChecks(configuration);
  return configuration;
}

function authenticate(client: Client, secret: string | undefined, methods: string[] | undefined) {
  if (secret === undefined) return client.None();
  const isBasic = methods === undefined || methods.includes('client_secret_basic');
  return isBasic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}
