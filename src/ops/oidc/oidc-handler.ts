import type { IncomingMessage } from 'node:http';
import type { Log } from '../../lib/log.ts';
import { isOwnPage, isPageOf } from '../access/is-own-page.ts';
import { createCookies } from '../access/session-cookie.ts';
import type { OpsAnswer } from '../ops-answer.ts';
import { OpsProblem } from '../ops-problem.ts';
import { leaveSession } from './leave-session.ts';
import { type HandleOidc, OIDC_PATHS, type OidcOptions, type OidcParts } from './oidc-parts.ts';
import { createSignInHandlers } from './sign-in.ts';

interface OidcPath {
  readonly method: 'GET' | 'POST';
  readonly handle: HandleOidc;
}

/** The paths of the sign-in with an account of an OpenID provider, which need no token. */
export function createOidcHandler(options: OidcOptions, log: Log) {
  const paths = createPaths(options, log);
  return async (request: IncomingMessage, path: string): Promise<OpsAnswer> => {
    const found = paths.get(path);
    if (found === undefined) {
      throw new OpsProblem(404, 'unknown_path', `there is nothing at ${path}`);
    }
    if (request.method !== found.method) {
      throw new OpsProblem(405, 'method_not_allowed', `${path} takes ${found.method}`, {
        headers: { allow: found.method },
      });
    }
    return await found.handle(request);
  };
}

function createPaths(options: OidcOptions, log: Log): ReadonlyMap<string, OidcPath> {
  const { oidc } = options;
  if (oidc === undefined) {
    const body = { sign_in: null, is_signed_in: false };
    return new Map([[OIDC_PATHS.state, get(async () => ({ status: 200, body }))]]);
  }
  const cookies = createCookies(new URL(oidc.redirectUrl).protocol === 'https:');
  const parts: OidcParts = { ...options, oidc, cookies, log };
  const { signIn, callback } = createSignInHandlers(parts);
  return new Map<string, OidcPath>([
    [OIDC_PATHS.state, get(createStateHandler(parts))],
    [OIDC_PATHS.signIn, get(signIn)],
    [OIDC_PATHS.callback, get(callback)],
    [OIDC_PATHS.signOut, { method: 'POST', handle: createSignOutHandler(parts) }],
  ]);
}

const get = (handle: HandleOidc): OidcPath => ({ method: 'GET', handle });

/** What the sign-in page has to know. That nobody is signed in is no refusal. */
function createStateHandler({ sessions, cookies }: OidcParts): HandleOidc {
  return async ({ headers }) => {
    const cookie = cookies.session.read(headers);
    // Without Redis people still have to find the field for the admin token.
    const find = cookie === undefined ? undefined : sessions.find(cookie).catch(() => undefined);
    const body = { sign_in: OIDC_PATHS.signIn, is_signed_in: (await find) !== undefined };
    return { status: 200, body, headers: { 'cache-control': 'no-store' } };
  };
}

/** Ends the session here. The one at the provider continues. */
function createSignOutHandler(parts: OidcParts): HandleOidc {
  const { oidc, sessions, cookies } = parts;
  const { origin } = new URL(oidc.redirectUrl);
  return async (request) => {
    const { headers } = request;
    if (!isOwnPage(headers, origin)) {
      throw new OpsProblem(403, 'not_our_page', 'only a page of the dashboard may sign out');
    }
    const cookie = cookies.session.read(headers);
    const found = cookie === undefined ? undefined : await sessions.find(cookie);
    if (found !== undefined && !isPageOf(headers, found.subject)) {
      throw new OpsProblem(
        409,
        'not_your_session',
        'somebody else has signed in with this browser',
      );
    }
    if (cookie !== undefined) await leaveSession(parts, cookie, request);
    return {
      status: 200,
      body: { signed_out: true },
      headers: { 'set-cookie': cookies.session.end },
    };
  };
}
