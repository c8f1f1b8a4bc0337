import { createHash, timingSafeEqual } from 'node:crypto';
import { createMinuteLimiter } from '../../guards/minute-limiter.ts';
import { readClientAddress } from '../../guards/read-client-address.ts';
import type { Secret } from '../../lib/secret.ts';
import { OpsProblem } from '../ops-problem.ts';

const FAILURES_PER_MINUTE_MAX = 10;

/** Rejects with the problem that refuses a call. */
export type AuthorizeAdmin = (authorization: string | undefined, address: string) => Promise<void>;

/**
 * Admits every call with the token, even if others at the same address guess. After too many wrong
 * tokens, further wrong tokens from that address are refused for a while. A call without a token
 * does not count as a guess.
 */
export function createAuthorizeAdmin(token: Secret): AuthorizeAdmin {
  const expected = digestToken(token.reveal());
  const failures = createMinuteLimiter({ perMinuteMax: FAILURES_PER_MINUTE_MAX });

  return async (authorization, peerAddress) => {
    const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (given === undefined) {
      throw refuse('the header authorization must be Bearer and the admin token');
    }
    if (timingSafeEqual(digestToken(given), expected)) return;
    const address = readClientAddress({ peerAddress, forwardedFor: undefined, trustedProxies: 0 });
    const waitMs = await failures.take(address);
    if (waitMs > 0) throw refuseGuessing(waitMs);
    throw refuse('the admin token is wrong');
  };
}

/** Digests have equal length, so comparing them reveals nothing about either token. */
function digestToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
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
