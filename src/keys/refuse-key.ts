import { DO_NOT_RETRY } from '../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../protocol/refusals.ts';
import { maskKey } from './api-key.ts';

/** Shows only as much of a key as its owner needs to recognise it. */
export function refuseKey(key: string | undefined): Refusal {
  const chatMessage =
    key === undefined
      ? "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
      : `Incorrect API key provided: ${maskKey(key)}.`;
  return new Refusal('unauthenticated', 'invalid x-api-key', {
    chatMessage,
    headers: DO_NOT_RETRY,
  });
}

/** Also ends the streams of a key that is revoked while they run. */
export function refuseClosedKey(why: 'revoked' | 'expired'): Refusal {
  return new Refusal(
    'unauthenticated',
    `This API key has ${why === 'revoked' ? 'been revoked' : 'expired'}.`,
    {
      headers: DO_NOT_RETRY,
    },
  );
}
