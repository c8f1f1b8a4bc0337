import type { Usage } from '../protocol/inference.ts';
import type { RateState } from '../protocol/rate-state.ts';
import type { Refusal } from '../protocol/refusals.ts';
import type { RequestDetails } from '../protocol/request-details.ts';
import type { AdmitOrder, AdmitReply, PlanLimits } from './admit.ts';
import type { AskStore } from './ask-store.ts';
import { FIRST_LEASE_MS } from './lease.ts';
import type { OpenHolds } from './open-holds.ts';
import { refuseAdmission, refuseClosedKey, refuseSuspended } from './refuse-admission.ts';
import type { SettleQueue } from './settle-queue.ts';
import { type AdmittedRequest, encodeLedgerUsage } from './settlement.ts';

/** See `gateway/steps.ts`, which says the same from the side of the spine. */
interface Order {
  readonly key: {
    readonly keyId: string;
    readonly bucket: number;
    readonly digest: string;
    readonly masked: string;
    readonly address: string | undefined;
  };
  readonly requestId: string;
  readonly modelNames: readonly string[];
  readonly holdMicros: number;
  readonly holdLeastMicros: number;
  seenMicros(): number;
  tellRate(rate: RateState): void;
  stop(refusal: Refusal): void;
}

interface Bill {
  readonly usage: Usage;
  readonly chargeMicros: number;
  readonly isEstimated: boolean;
}

interface Admission {
  readonly heldMicros: number;
  settle(bill: Bill, details: RequestDetails): void;
}

/** Who pays for a request, and in which month. */
export interface Payer {
  readonly accountId: string;
  readonly month: string;
}

interface AdmitRequestOptions {
  readonly askStore: AskStore;
  /** One attempt. */
  readonly admit: (order: AdmitOrder) => Promise<AdmitReply>;
  /** Who pays, where a request goes on although the store is away; `undefined` refuses it. */
  readonly insure: (order: Order) => Payer | undefined;
  readonly openHolds: OpenHolds;
  readonly settleQueue: Pick<SettleQueue, 'add'>;
  readonly plans: PlanLimits;
  readonly windowMs: number;
  readonly nowMs: () => number;
  /** What the store said, for those who keep an eye on keys. */
  readonly onReply: (order: Order, reply: AdmitReply) => void;
}

/** One round trip that lets a request in; from there on its hold is kept until it is settled. */
export function createAdmitRequest(options: AdmitRequestOptions) {
  const { askStore, admit, insure, openHolds, settleQueue, plans, windowMs, nowMs } = options;

  const ask = ({ key, requestId, modelNames, holdMicros, holdLeastMicros }: Order) => {
    const { bucket, keyId, digest } = key;
    const what = { requestId, modelNames, holdMicros, holdLeastMicros };
    const order = { bucket, keyId, digest, ...what, leaseMs: FIRST_LEASE_MS, windowMs, plans };
    return askStore(bucket, () => admit(order));
  };

  const describeRequest = (
    { key, requestId, modelNames }: Order,
    payer: Payer,
  ): AdmittedRequest => ({
    bucket: key.bucket,
    accountId: payer.accountId,
    keyId: key.keyId,
    requestId,
    month: payer.month,
    model: modelNames[0] ?? '',
  });

  const settleLater = (request: AdmittedRequest, bill: Bill, details: RequestDetails) =>
    settleQueue.add({
      ...request,
      actualMicros: bill.chargeMicros,
      firstTriedMs: nowMs(),
      usage: encodeLedgerUsage({ ...bill, details }),
    });

  /** Nothing is held: what it costs is charged as far as cap and balance then have room. */
  const admitInsured = (order: Order, error: unknown): Admission => {
    const payer = insure(order);
    if (payer === undefined) throw error;
    const request = describeRequest(order, payer);
    return {
      heldMicros: order.holdMicros,
      settle: (bill, details) => settleLater(request, bill, details),
    };
  };

  const admitHeld = (order: Order, reply: Extract<AdmitReply, { kind: 'admitted' }>): Admission => {
    const request = describeRequest(order, reply);
    const { heldMicros } = reply;
    const close = openHolds.open({
      ...request,
      heldMicros,
      seenMicros: order.seenMicros,
      stop: (why) => order.stop(why === 'revoked' ? refuseClosedKey(why) : refuseSuspended()),
    });
    return {
      heldMicros,
      settle(bill, details) {
        close();
        settleLater(request, bill, details);
      },
    };
  };

  return async (order: Order): Promise<Admission> => {
    let reply: AdmitReply;
    try {
      reply = await ask(order);
    } catch (error) {
      return admitInsured(order, error);
    }
    options.onReply(order, reply);
    if ('rate' in reply) order.tellRate(reply.rate);
    if (reply.kind === 'admitted') return admitHeld(order, reply);
    const [model = ''] = order.modelNames;
    throw refuseAdmission(reply, { maskedKey: order.key.masked, model });
  };
}
