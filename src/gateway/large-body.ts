import { retryAfterHeaders } from '../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { Steps } from './steps.ts';

/** Larger bodies take long to read. */
const SMALL_BODY_BYTES_MAX = 64 * 1024;

export function isLarge(bodyBytes: number): boolean {
  return bodyBytes > SMALL_BODY_BYTES_MAX;
}

/** Refuses to read a large body of an account that has had too many read without paying. */
export async function takeLargeBody(
  accountId: string,
  bodyBytes: number,
  { unpaidBodies }: Pick<Steps, 'unpaidBodies'>,
): Promise<void> {
  const waitMs = await unpaidBodies.take(accountId, bodyBytes);
  if (waitMs === 0) return;
  throw new Refusal('rate_limited', 'Too many large requests that were not admitted.', {
    headers: retryAfterHeaders(waitMs),
  });
}
