import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { OperatorDirectory } from '../../accounts/operators/operator-directory.ts';
import { isOperatorToken } from '../../accounts/operators/operator-token.ts';
import type { Sessions } from '../../accounts/operators/sessions.ts';
import { createMinuteLimiter } from '../../guards/minute-limiter.ts';
import { readClientAddress } from '../../guards/read-client-address.ts';
import type { Secret } from '../../lib/secret.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { OidcSettings } from '../oidc/oidc-settings.ts';
import { OpsProblem } from '../ops-problem.ts';
import type { AdminCaller } from './admin-caller.ts';
import type { CallerMemory } from './caller-memory.ts';
import { fingerprintToken } from './fingerprint-token.ts';
import { isOwnPage, isPageOf } from './is-own-page.ts';
import { createCookies } from './session-cookie.ts';

const FAILURES_PER_MINUTE_MAX = 10;

/** Rejects with the problem that refuses a call. */
export type AuthorizeAdmin = (
  headers: IncomingHttpHeaders,
  address: string,
) => Promise<AdminCaller>;

export interface AuthorizeOptions {
  /** The one that needs no Redis. */
  readonly token: Secret;
  readonly operators: Pick<OperatorDirectory, 'findOperator'>;
  /** Sessions of another provider or client do not count. Undefined without a provider. */
  readonly oidc: Pick<OidcSettings, 'issuer' | 'clientId' | 'redirectUrl'> | undefined;
  readonly sessions: Pick<Sessions, 'find'>;
  readonly callers: CallerMemory;
  readonly clock: Clock;
}

/**
 * Admits every call with a right token, even if others at the same address guess. After too many
 * wrong tokens, further wrong tokens from that address are refused for a while. A call without a
 * token does not count as a guess.
 */
export function createAuthorizeAdmin(options: AuthorizeOptions): AuthorizeAdmin {
  const { token, operators, callers } = options;
  const expected = digestToken(token.reveal());
  const administrator: AdminCaller = {
    ...{ kind: 'admin_token', role: 'operator', operator: null, untilMs: null },
    token: fingerprintToken(token.reveal()),
  };
  const failures = createMinuteLimiter({ perMinuteMax: FAILURES_PER_MINUTE_MAX });

  const askForToken = async (given: string): Promise<AdminCaller | undefined> => {
    const found = await operators.findOperator(given);
    if (found === undefined) return undefined;
    const { id, name, role } = found;
    const who = { operator: { id, name }, token: fingerprintToken(given) };
    return { kind: 'operator_token', role, ...who, untilMs: null };
  };
  const findSession = createFindSession(options);

  return async (headers, peerAddress) => {
    const given = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
    if (given === undefined) return await findSession(headers);
    if (timingSafeEqual(digestToken(given), expected)) return administrator;
    const isOperator = isOperatorToken(given);
    const caller = isOperator ? await callers.find(given, askForToken) : undefined;
    if (caller !== undefined) return caller;
    const address = readClientAddress({ peerAddress, forwardedFor: undefined, trustedProxies: 0 });
    const waitMs = await failures.take(address);
    if (waitMs > 0) throw refuseGuessing(waitMs);
    throw refuse(isOperator ? 'the token is wrong or revoked' : 'the admin token is wrong');
  };
}

/** A cookie counts only if a page of our own sends it. */
function createFindSession({ oidc, sessions, callers, clock }: AuthorizeOptions) {
  if (oidc === undefined) {
    return async () => {
      throw refuseWithoutToken();
    };
  }
  const { issuer, clientId, redirectUrl } = oidc;
  const { origin, protocol } = new URL(redirectUrl);
  const { session: cookie } = createCookies(protocol === 'https:');

  const askForSession = async (value: string): Promise<AdminCaller | undefined> => {
    const found = await sessions.find(value);
    if (found === undefined) return undefined;
    if (found.issuer !== issuer || found.clientId !== clientId) return undefined;
    const { subject, name, role, untilMs } = found;
    return { kind: 'session', role, operator: { id: subject, name }, token: null, untilMs };
  };

  return async (headers: IncomingHttpHeaders): Promise<AdminCaller> => {
    if (!isOwnPage(headers, origin)) throw refuseWithoutToken();
    const value = cookie.read(headers);
    const caller = value === undefined ? undefined : await callers.find(value, askForSession);
    if (caller === undefined || (caller.untilMs ?? 0) <= clock.nowMs()) {
      throw refuse('the session has ended');
    }
    if (!isPageOf(headers, caller.operator?.id)) {
      throw refuse('somebody else has signed in with this browser');
    }
    return caller;
  };
}

/** Digests have equal length, so comparing them reveals nothing about either token. */
function digestToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function refuseWithoutToken(): OpsProblem {
  return refuse(
    'the header authorization must be Bearer, followed by the admin token or the token of an operator',
  );
}

function refuse(message: string): OpsProblem {
  return new OpsProblem(401, 'unauthorized', message, {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

function refuseGuessing(waitMs: number): OpsProblem {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new OpsProblem(
    429,
    'too_many_failures',
    `too many wrong admin tokens from this address; try again in ${seconds} seconds`,
    // A further attempt must open a new connection.
    { headers: { 'retry-after': String(seconds), connection: 'close' } },
  );
}
