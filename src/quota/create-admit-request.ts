import { refuseClosedKey } from '../keys/refuse-key.ts';
import type { Admission, AdmissionOrder, Bill } from '../protocol/admission.ts';
import type { LimitState } from '../protocol/rates/limit-state.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { RequestDetails } from '../protocol/request-details.ts';
import type { AskStore } from './ask-store.ts';
import { createAdmitByUser, type NamedReply } from './create-admit-by-user.ts';
import { FIRST_LEASE_MS } from './lease.ts';
import type { OpenHold, OpenHolds } from './open-holds.ts';
import { refuseAdmission, refuseSuspended, refuseWhileBooksFull } from './refuse-admission.ts';
import type { AdmitArguments, AdmitReply } from './scripts/admit.ts';
import type { Hold } from './scripts/renew.ts';
import { encodeLedgerUsage, type Settlement } from './settlement/settlement.ts';
import type { SettleQueue } from './settling/settle-queue.ts';

/** Who pays for a request, and in which month. */
export interface Payer {
  readonly accountId: string;
  readonly month: string;
}

/** What is known of a request when it is admitted. */
type HoldState = Pick<Hold, 'accountId' | 'month' | 'extras' | 'heldMicros' | 'lastKnownMs'>;

interface AdmitRequestOptions {
  /** While the books are full, nobody is admitted. */
  readonly books: { readonly isFull: boolean };
  readonly askStore: AskStore;
  /** One attempt to admit a request. */
  readonly admit: (order: AdmitArguments) => Promise<AdmitReply>;
  /**
   * Answers who pays if a request may continue although the store is unreachable. `undefined`
   * refuses the request.
   */
  readonly insure: (order: AdmissionOrder) => Promise<Payer | undefined>;
  readonly openHolds: OpenHolds;
  readonly settleQueue: Pick<SettleQueue, 'add'>;
  readonly windowMs: number;
  /** The share of a limit that blocks from which it warns. */
  readonly warnAtShare: number;
  /** How many end users an account may have at a time. */
  readonly usersMax: number;
  readonly digestEndUser: (name: string) => string;
  readonly nowMs: () => number;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
  /**
   * Called once for each request. Gets the error if the request is refused because the store did
   * not answer.
   */
  readonly onAsked: (tookMs: number, error?: unknown) => void;
  /** Reports the store's reply to the code that watches keys. */
  readonly onReply: (order: AdmissionOrder, reply: NamedReply) => void;
}

/** Admits a request in one round trip. The hold is then kept until the request is settled. */
export function createAdmitRequest(options: AdmitRequestOptions) {
  const { askStore, insure, openHolds, settleQueue, nowMs } = options;
  const { books, random, onAsked, onReply } = options;

  const admitByUser = createAdmitByUser(options);
  const ask = (order: AdmissionOrder) => {
    const args = toAdmitArguments(order, options);
    return askStore(args.bucket, () => admitByUser(args, order.endUser));
  };

  /**
   * A stream keeps what this returns, perhaps for a long time. So it must not keep the order, nor
   * the reply to it.
   */
  const openHold = (order: AdmissionOrder, state: HoldState): Admission['settle'] => {
    const { key, requestId, modelNames, seenMicros, stop } = order;
    const hold: OpenHold = {
      ...{ bucket: key.bucket, keyId: key.keyId, requestId, model: modelNames[0] ?? '' },
      ...state,
      seenMicros,
      stop: (why) => stop(why === 'revoked' ? refuseClosedKey(why) : refuseSuspended()),
    };
    const close = openHolds.open(hold);
    return (bill, details) => {
      close();
      settleQueue.add(toSettlement(hold, bill, details));
    };
  };

  /**
   * Nothing is held: the settlement charges the cost as far as the cap and the balance allow. The
   * estimate is returned as held all the same, so that the answer is not cut short. A hold of 0 is
   * renewed too, since the renewal says whether the request may continue.
   */
  const admitInsured = (order: AdmissionOrder, { accountId, month }: Payer): Admission => {
    const state = { accountId, month, extras: '', heldMicros: 0, lastKnownMs: nowMs() };
    return { ...roomOf(order), accountId, settle: openHold(order, state) };
  };

  const admitHeld = (
    order: AdmissionOrder,
    reply: Extract<AdmitReply, { kind: 'admitted' }>,
  ): Admission => {
    const { accountId, month, extras, heldMicros, outputTokensRoom } = reply;
    const state = { accountId, month, extras, heldMicros, lastKnownMs: reply.rate.nowMs };
    return { accountId, heldMicros, outputTokensRoom, settle: openHold(order, state) };
  };

  return async (order: AdmissionOrder): Promise<Admission> => {
    if (books.isFull) throw refuseWhileBooksFull(random());
    const askedMs = performance.now();
    let reply: NamedReply;
    try {
      reply = await ask(order);
    } catch (error) {
      // Any other error is a fault of ours: the store was reachable.
      const payer = error instanceof Refusal ? await insure(order) : undefined;
      onAsked(performance.now() - askedMs, payer === undefined ? error : undefined);
      if (payer === undefined) throw error;
      return admitInsured(order, payer);
    }
    onAsked(performance.now() - askedMs);
    onReply(order, reply);
    sendRate(order, reply);
    if (reply.kind === 'admitted') return admitHeld(order, reply);
    const [model = ''] = order.modelNames;
    throw refuseAdmission(reply, { maskedKey: order.key.masked, model });
  };
}

function sendRate(order: AdmissionOrder, reply: NamedReply): void {
  if (!('rate' in reply)) return;
  const credits = reply.kind === 'admitted' ? reply.creditsMicros : undefined;
  order.sendRate(reply.rate, nearLimitsOf(reply), credits);
}

/** What clients learn about lists of limits. */
function nearLimitsOf(reply: NamedReply): readonly LimitState[] {
  if (reply.kind === 'admitted') return reply.nearLimits;
  if (reply.kind !== 'limit' || reply.unit === 'credits') return [];
  const left = Math.max(0, reply.amount - reply.countedAmount);
  return [{ ...reply, left }];
}

function toAdmitArguments(
  order: AdmissionOrder,
  options: Pick<AdmitRequestOptions, 'windowMs' | 'usersMax' | 'warnAtShare'>,
): AdmitArguments {
  const { key, plans } = order;
  const { windowMs, usersMax, warnAtShare } = options;
  return {
    bucket: key.bucket,
    keyId: key.keyId,
    digest: key.digest,
    requestId: order.requestId,
    modelNames: order.modelNames,
    holdMicros: order.holdMicros,
    holdLeastMicros: order.holdLeastMicros,
    leaseMs: FIRST_LEASE_MS,
    windowMs,
    plans,
    tokens: order.tokens,
    user: '',
    usersMax,
    warnAtShare,
  };
}

function toSettlement(
  { bucket, accountId, keyId, requestId, month, model, extras, lastKnownMs }: Hold,
  { usage, chargeMicros, isEstimated }: Bill,
  details: RequestDetails,
): Settlement {
  return {
    bucket,
    accountId,
    keyId,
    requestId,
    month,
    model,
    extras,
    actualMicros: chargeMicros,
    lastKnownMs,
    usage: encodeLedgerUsage(usage, isEstimated, details, extras),
  };
}

/** Where nothing is held, only the request bounds the answer. */
function roomOf({ holdMicros }: AdmissionOrder) {
  return { heldMicros: holdMicros, outputTokensRoom: Number.MAX_SAFE_INTEGER };
}
