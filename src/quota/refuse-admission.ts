import { refuseForbiddenModel } from '../catalogue/catalogue.ts';
import { refuseClosedKey, refuseKey } from '../keys/refuse-key.ts';
import { formatCredits } from '../lib/units/micros.ts';
import { MINUTE_MS } from '../lib/units/time-units.ts';
import { DO_NOT_RETRY, retryAfterHeaders } from '../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { NamedReply } from './create-admit-by-user.ts';
import { refuseByLimit, refuseTooLarge } from './refuse-by-limit.ts';

type AdmitRefusal = Exclude<NamedReply, { kind: 'admitted' }>;

/** A guess: it is unknown when another request of the key will end. */
const IN_FLIGHT_WAIT_MS = 1_000;
/** A guess: it is unknown when an end user will be forgotten. */
const USERS_WAIT_MS = 60_000;
const FINISHED_WAIT_MS = 1_000;
/** The books need some time to catch up. Clients that waited must not all come back at once. */
const BOOKS_WAIT_MIN_MS = 5_000;
const BOOKS_WAIT_MAX_MS = 15_000;

/** Translates why the store did not admit a request into the refusal that the caller gets. */
export function refuseAdmission(
  reply: AdmitRefusal,
  caller: { readonly maskedKey: string; readonly model: string },
): Refusal {
  switch (reply.kind) {
    case 'unknown':
      return refuseKey(caller.maskedKey);
    case 'revoked':
    case 'expired':
      return refuseClosedKey(reply.kind);
    case 'suspended':
      return refuseSuspended();
    case 'model':
      return refuseForbiddenModel(caller.model);
    case 'rate':
      return refuseRate(reply);
    case 'in_flight':
      return refuseInFlight(reply.inFlightMax);
    case 'cap':
      return refuseCap(reply);
    case 'balance':
      return new Refusal(
        'balance_too_low',
        `Your credit balance is too low to cover this request: ${formatCredits(reply.balanceMicros)} credits, of which running requests hold ${formatCredits(reply.heldMicros)}.`,
        { headers: DO_NOT_RETRY },
      );
    case 'limit':
      return refuseByLimit(reply);
    case 'too_large':
      return refuseTooLarge(reply);
    case 'user_missing':
      return new Refusal(
        'end_user_missing',
        'This API key needs each request to name its end user, and this one does not.',
        { headers: DO_NOT_RETRY },
      );
    case 'users_full':
      return new Refusal(
        'too_many_end_users',
        'This account has as many end users at once as it may have, so there is no room for a new one. Try again later.',
        { headers: retryAfterHeaders(USERS_WAIT_MS) },
      );
    case 'finished':
      // The reply to the first call was lost, and the hold ran out before the second: the clock of
      // Redis has jumped.
      return new Refusal(
        'unavailable',
        'The gateway lost sight of this request before it began. Nothing was charged. Try again.',
        { headers: retryAfterHeaders(FINISHED_WAIT_MS) },
      );
  }
}

export function refuseSuspended(): Refusal {
  return new Refusal('account_suspended', 'The account of this API key is suspended.', {
    headers: DO_NOT_RETRY,
  });
}

/** `random` is a number from 0 up to 1. */
export function refuseWhileBooksFull(random: number): Refusal {
  const waitMs = BOOKS_WAIT_MIN_MS + Math.floor(random * (BOOKS_WAIT_MAX_MS - BOOKS_WAIT_MIN_MS));
  return new Refusal(
    'books_full',
    'The gateway is too far behind with its ledger to take more requests at the moment. Nothing was charged.',
    { headers: retryAfterHeaders(waitMs) },
  );
}

function refuseRate({ rate, scope, waitMs }: Extract<AdmitRefusal, { kind: 'rate' }>): Refusal {
  const per = rate.windowMs === MINUTE_MS ? 'minute' : `${rate.windowMs / 1_000} seconds`;
  return new Refusal(
    'rate_limited',
    `This request would exceed the limit of this ${scope === 'key' ? 'API key' : 'account'}, ${rate.limit} requests per ${per}. Try again in ${waitMs / 1_000} seconds.`,
    { headers: retryAfterHeaders(waitMs) },
  );
}

function refuseInFlight(inFlightMax: number): Refusal {
  return new Refusal(
    'too_many_at_once',
    `This API key may have ${inFlightMax} requests running at once. Try again when one has ended.`,
    { headers: retryAfterHeaders(IN_FLIGHT_WAIT_MS) },
  );
}

function refuseCap(reply: Extract<AdmitRefusal, { kind: 'cap' }>): Refusal {
  const used = `${formatCredits(reply.spentMicros)} spent and ${formatCredits(reply.heldMicros)} held by running requests`;
  return new Refusal(
    'cap_reached',
    `The monthly credit cap of this API key does not cover this request: of ${formatCredits(reply.capMicros)} credits, ${used}. A new month begins at 00:00 UTC on its first day.`,
    { headers: DO_NOT_RETRY },
  );
}
