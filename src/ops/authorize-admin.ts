import { createHash, timingSafeEqual } from 'node:crypto';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Secret } from '../lib/secret.ts';
import { OpsProblem } from './ops-problem.ts';

const FAILURES_PER_MINUTE_MAX = 10;
const MINUTE_S = 60;

export type AuthorizeAdmin = (authorization: string | undefined, address: string) => Promise<void>;

/** Lets through who has the token. An address that tried too many others waits, whatever it has. */
export function createAuthorizeAdmin(token: Secret): AuthorizeAdmin {
  const expected = digestToken(token.reveal());
  const failures = new RateLimiterMemory({ points: FAILURES_PER_MINUTE_MAX, duration: MINUTE_S });

  return async (authorization, address) => {
    const counted = await failures.get(address);
    if (counted !== null && counted.consumedPoints >= FAILURES_PER_MINUTE_MAX) {
      throw refuseGuessing(counted);
    }
    const given = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (given !== undefined && timingSafeEqual(digestToken(given), expected)) return;
    try {
      await failures.consume(address);
    } catch (error) {
      if (error instanceof RateLimiterRes) throw refuseGuessing(error);
      throw error;
    }
    throw new OpsProblem(
      401,
      'unauthorized',
      given === undefined
        ? 'the header authorization must be Bearer and the admin token'
        : 'the admin token is wrong',
      { headers: { 'www-authenticate': 'Bearer' } },
    );
  };
}

/** Digests are of one length, so that comparing them tells nothing of either. */
function digestToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function refuseGuessing({ msBeforeNext }: RateLimiterRes): OpsProblem {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  return new OpsProblem(
    429,
    'too_many_failures',
    `too many wrong admin tokens from this address; try again in ${seconds} seconds`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
