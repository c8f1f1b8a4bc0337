import type { IncomingMessage } from 'node:http';
import { type Session, SIGN_IN_MAX_MS } from '../../accounts/operators/sessions.ts';
import { createMinuteLimiter } from '../../guards/minute-limiter.ts';
import { readClientAddress } from '../../guards/read-client-address.ts';
import { PAGE_SECURITY_HEADERS } from '../../page-files/load-page-files.ts';
import type { OpsAnswer } from '../ops-answer.ts';
import { showSession } from '../routes/operator-routes.ts';
import { explainSignIn, SignInProblem } from './explain-sign-in.ts';
import { leaveSession } from './leave-session.ts';
import type { HandleOidc, OidcParts } from './oidc-parts.ts';
import { createProvider, type ProvenPerson } from './provider.ts';
import { readClaim, readName, readSubject, roleOf } from './read-role.ts';
import { createProblemPage } from './sign-in-page.ts';

/** Redis keeps each sign-in that begins for some minutes. */
const SIGN_INS_PER_MINUTE_MAX = 30;
/** Lines in the log of each refusal that anybody can cause as often as they like. */
const LINES_PER_MINUTE_MAX = 1;
/** The only place a sign-in ever leads to, whatever its address says. */
const DASHBOARD = '/';

/**
 * The authorization-code flow with PKCE. A cookie ties the way back to the browser that began, and
 * Redis has what must come back, so any node may finish what another began. Each sign-in is
 * finished once.
 */
export function createSignInHandlers(parts: OidcParts): {
  readonly signIn: HandleOidc;
  readonly callback: HandleOidc;
} {
  const { oidc, sessions, cookies, onSignIn, clock, log } = parts;
  const provider = createProvider(oidc, clock);
  const limiter = createMinuteLimiter({ perMinuteMax: SIGN_INS_PER_MINUTE_MAX });
  const lines = createMinuteLimiter({ perMinuteMax: LINES_PER_MINUTE_MAX });

  const explain = async (error: unknown): Promise<OpsAnswer> => {
    const { status, message, code, isOurs } = explainSignIn(error);
    onSignIn(isOurs ? 'failed' : 'refused');
    const isBounded = error instanceof SignInProblem && error.isForAnybody;
    if (!isBounded || (await lines.take(message)) === 0) {
      log.warn({ code, reason: message }, 'a sign-in to the dashboard failed');
    }
    return createProblemPage(status, message, { 'set-cookie': cookies.signIn.end });
  };

  const begin = async (request: IncomingMessage): Promise<OpsAnswer> => {
    const waitMs = await limiter.take(addressOf(request));
    if (waitMs > 0) throw refuseAnybody(429, 'too many sign-ins from this address; wait a minute');
    const { url, signIn } = await provider.begin();
    const { cookie } = await sessions.beginSignIn(signIn);
    onSignIn('begun');
    return redirect(url, [cookies.signIn.set(cookie, SIGN_IN_MAX_MS)]);
  };

  const finish = async (request: IncomingMessage): Promise<OpsAnswer> => {
    const begun = cookies.signIn.read(request.headers);
    const signIn = begun === undefined ? undefined : await sessions.takeSignIn(begun);
    if (signIn === undefined) {
      throw refuseAnybody(400, 'this sign-in has ended or belongs to another browser');
    }
    const { url = '' } = request;
    const person = await provider.finish(url.slice(url.indexOf('?')), signIn);
    const { session, cookie } = await sessions.open(findRole(parts, person));
    // Whoever was signed in with this browser no longer is.
    const old = cookies.session.read(request.headers);
    if (old !== undefined) await leaveSession(parts, old, request);
    await auditSignIn(parts, session, request);
    onSignIn('done');
    return redirect(DASHBOARD, [cookies.session.set(cookie, oidc.sessionMs), cookies.signIn.end]);
  };

  return {
    signIn: (request) => begin(request).catch(explain),
    callback: (request) => finish(request).catch(explain),
  };
}

function refuseAnybody(status: number, message: string): SignInProblem {
  return new SignInProblem(status, message, { isForAnybody: true });
}

function findRole({ oidc }: OidcParts, { subject, claims }: ProvenPerson) {
  const { roleClaim, roles, issuer, clientId } = oidc;
  const name = readName(claims, subject);
  const role = roleOf(readClaim(claims, roleClaim) ?? [], roles);
  if (role === undefined) {
    throw new SignInProblem(
      403,
      `${name} has no role here: the claim ${roleClaim} has no value that the settings give a role`,
    );
  }
  return { subject: readSubject(subject), name, role, issuer, clientId };
}

async function auditSignIn(
  { audit, node }: OidcParts,
  session: Session,
  { socket }: IncomingMessage,
): Promise<void> {
  const operator = { id: session.subject, name: session.name };
  await audit.add({
    ...{ what: 'operator.sign_in', node, account: null, key: null, outcome: 'done' },
    who: { via: 'api', token: null, address: socket.remoteAddress ?? '', operator },
    before: null,
    after: showSession(session),
  });
}

function redirect(location: string, cookies: readonly string[]): OpsAnswer {
  return {
    status: 303,
    body: '',
    headers: {
      ...PAGE_SECURITY_HEADERS,
      ...{ location, 'cache-control': 'no-store', 'set-cookie': cookies },
    },
  };
}

function addressOf({ socket }: IncomingMessage): string {
  const peerAddress = socket.remoteAddress ?? '';
  return readClientAddress({ peerAddress, forwardedFor: undefined, trustedProxies: 0 });
}
