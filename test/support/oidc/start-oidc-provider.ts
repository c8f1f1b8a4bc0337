import { once } from 'node:events';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import type { CleanUp } from '../create-temp-dir.ts';
import { findFreePort } from '../servers/find-free-port.ts';

export const OIDC_CLIENT = { id: 'tollgate', secret: 'a-secret-of-the-client' };

/** Whoever comes is this person, without being asked. */
export interface OidcPerson {
  sub: string;
  name: string;
  groups: string[];
}

export interface OidcProvider {
  readonly issuer: string;
  /** A test may change it. */
  person: OidcPerson;
}

/** A real OpenID provider with one client. It tells groups at its userinfo endpoint only. */
export async function startOidcProvider(
  redirectUrls: readonly string[],
  cleanUp: CleanUp,
): Promise<OidcProvider> {
  const port = await findFreePort();
  const issuer = `http://127.0.0.1:${port}`;
  const started: OidcProvider = { issuer, person: { sub: 'u-1', name: 'Ada', groups: [] } };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: OIDC_CLIENT.id,
        client_secret: OIDC_CLIENT.secret,
        redirect_uris: redirectUrls,
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'] },
    cookies: { keys: ['a-key-of-the-tests'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: () => '/consent' },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ ...started.person, sub }),
    }),
  });
  const handle = provider.callback();
  const server = createServer((request, response) => {
    if (request.url !== '/consent') {
      handle(request, response);
      return;
    }
    void (async () => {
      const { params } = await provider.interactionDetails(request, response);
      const accountId = started.person.sub;
      const grant = new provider.Grant({ accountId, clientId: params.client_id });
      grant.addOIDCScope('openid profile');
      const result = { login: { accountId }, consent: { grantId: await grant.save() } };
      await provider.interactionFinished(request, response, result, {
        mergeWithLastSubmission: false,
      });
    })();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  cleanUp(() => {
    server.close();
    server.closeAllConnections();
  });
  return started;
}
