import { createCookieJar } from '../../support/clients/cookie-jar.ts';
import type { CleanUp } from '../../support/create-temp-dir.ts';
import { OIDC_CLIENT } from '../../support/oidc/start-oidc-provider.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';

const SESSION = { 'x-tollgate-session': '1' };

interface OidcNodeOptions {
  readonly issuer: string;
  readonly opsPort: number;
  /** The address that the provider sends people back to. */
  readonly redirectUrl: string;
  readonly redisPort?: number;
  readonly settings?: string;
  readonly cleanUp: CleanUp;
}

/** Starts a node whose operators sign in at this provider. */
export async function startOidcNode(options: OidcNodeOptions): Promise<Gateway> {
  const { issuer, opsPort, redirectUrl, redisPort, settings = '', cleanUp } = options;
  const gateway = await startGateway({
    config: `${FAST_CONFIG}ops:
  oidc:
    issuer: ${issuer}
    client_id: ${OIDC_CLIENT.id}
    client_secret: ${OIDC_CLIENT.secret}
    redirect_url: ${redirectUrl}
    roles: {admins: operator, finance: billing, staff: viewer}
${settings}`,
    env: {
      TOLLGATE_OPS_LISTEN: `127.0.0.1:${opsPort}`,
      ...(redisPort !== undefined && { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redisPort}` }),
    },
    cleanUp,
  });
  return { ...gateway, opsUrl: `http://127.0.0.1:${opsPort}` };
}

/** Somebody with a browser of their own. */
export function createVisitor(gateway: Gateway) {
  const jar = createCookieJar();
  const isBack = (url: string) => new URL(url).pathname === '/oidc/callback';
  const begin = (query = '') => jar.follow(`${gateway.opsUrl}/oidc/sign-in${query}`, isBack);
  return {
    ...jar,
    /** Goes to the provider and returns the address that leads back. */
    begin,
    async signIn() {
      return await jar.visit(await begin());
    },
    me: (url = gateway.opsUrl) => jar.visit(`${url}/admin/v1/operators/me`, { headers: SESSION }),
    post: (path: string, headers: Record<string, string> = SESSION, url = gateway.opsUrl) =>
      jar.visit(`${url}${path}`, {
        ...{ method: 'POST', body: '{}' },
        headers: { 'content-type': 'application/json', ...headers },
      }),
  };
}
