import { StopSource } from '../lib/time/stop-signal.ts';
import type { Bill } from '../protocol/admission.ts';
import type { Answer } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { ClientSide } from './client-side.ts';
import type { AnswerEnd, Meter } from './meter.ts';
import type { UnreadAnswer, UnreadList, UnreadPlace } from './unread-list.ts';

/** Ends an answer whose client did not leave by itself, but read too slowly. */
export const CUT_OFF = new Error('the client was cut off');

/** What may make an answer cost more than its client can see. */
export interface HiddenCost {
  readonly model: string;
  readonly isStream: boolean;
  readonly asksToThink: boolean;
  /**
   * The model reads what a search finds. Only the end of the answer says how many tokens that was.
   */
  readonly maySearch: boolean;
  /** Nobody knows what the input costs before the upstream has reported it. */
  readonly isInputUnsure: boolean;
  readonly requestBytes: number;
}

/**
 * Decides what becomes of an answer when its client leaves. A client must not get work for free by
 * leaving before the cost is known. If the client cannot see all of the cost, the rest of the
 * answer is read for its usage; otherwise the upstream is stopped.
 *
 *   here ──client gone──▶ unread   until the answer ends
 *    │                      │ timeout, revoked, the worker ends, another account needs the place
 *    └──nothing is hidden, or not sent, or no room──▶ stopped
 */
export class ClientLeave implements UnreadAnswer {
  /** Stops the upstream. */
  readonly signal = new StopSource();
  readonly #client: ClientSide;
  readonly #meter: Meter;
  readonly #unread: UnreadList;
  readonly #cost: HiddenCost;
  accountId = '';
  #answer: Answer | undefined;
  #place: UnreadPlace | undefined;
  #state: 'here' | 'unread' | 'stopped' = 'here';
  #wasSent = false;
  /** What the answer had cost when its client left. */
  #seenMicros = 0;

  constructor(client: ClientSide, meter: Meter, unread: UnreadList, cost: HiddenCost) {
    this.#client = client;
    this.#meter = meter;
    this.#unread = unread;
    this.#cost = cost;
    if (client.signal.aborted) this.#onGone();
    else client.signal.addEventListener('abort', this.#onGone);
  }

  follow(answer: Answer, accountId: string): void {
    this.#answer = answer;
    this.accountId = accountId;
  }

  get requestBytes(): number {
    return this.#meter.hasBegun() ? 0 : this.#cost.requestBytes;
  }

  get hasLeft(): boolean {
    return this.#state !== 'here' && !(this.#client.signal.reason instanceof Refusal);
  }

  get isUnread(): boolean {
    return this.#state === 'unread';
  }

  /**
   * Whether the request was sent to an upstream; after the client has left, whether it was by then.
   */
  isSent(): boolean {
    return this.#state === 'here'
      ? (this.#answer?.isSent?.() ?? this.#answer !== undefined)
      : this.#wasSent;
  }

  /** For when there is no client to write to: whether to read more of the answer anyway. */
  goesOnUnread(): boolean {
    if (this.#state === 'here') this.#leave(CUT_OFF);
    if (this.#state === 'unread' && !this.#isWorthReading()) this.stop();
    return this.#state === 'unread';
  }

  /**
   * Reading slowly until the time of an answer is over must not be cheaper than leaving. Returns
   * whether the answer continues unread.
   */
  cutOff(): boolean {
    if (this.#state === 'here') {
      if (!this.#isWorthReading()) return false;
      this.#client.cutOff();
    }
    return this.goesOnUnread();
  }

  /** The key was revoked, or its account suspended. */
  refuse(refusal: Refusal): void {
    this.#client.abort(refusal);
    this.stop();
  }

  stop(): void {
    const { signal } = this.#client;
    this.#stop(signal.aborted ? signal.reason : CUT_OFF);
  }

  /**
   * What is charged in the end. If the client has left, this is at most the amount that was held,
   * or the cost at the time it left, whichever is more.
   */
  closeBill(end: AnswerEnd, heldMicros: number): Bill {
    this.#unread.end(this.#place);
    const { model, asksToThink } = this.#cost;
    const bill = this.#meter.close(end, this.isSent());
    if (bill.usage.thinking > 0 && !asksToThink) this.#unread.noteHiding(model);
    const chargeMaxMicros = Math.max(heldMicros, this.#seenMicros);
    if (!this.hasLeft || bill.chargeMicros <= chargeMaxMicros) return bill;
    return { ...bill, chargeMicros: chargeMaxMicros };
  }

  readonly #onGone = () => {
    const { reason } = this.#client.signal;
    if (reason instanceof Refusal) this.#stop(reason);
    else this.#leave(reason);
  };

  #leave(reason: unknown): void {
    const isSent = this.isSent();
    if (isSent && this.#isWorthReading()) this.#place = this.#unread.begin(this);
    if (this.#place === undefined) {
      this.#stop(reason);
      return;
    }
    this.#noteLeft();
    this.#state = 'unread';
  }

  #stop(reason: unknown): void {
    if (this.#state === 'here') this.#noteLeft();
    this.#state = 'stopped';
    this.#unread.end(this.#place);
    this.signal.abort(reason);
  }

  #noteLeft(): void {
    this.#wasSent = this.isSent();
    this.#seenMicros = this.#meter.seenMicros(this.#wasSent);
  }

  #isWorthReading(): boolean {
    return this.#mayHide() || (this.#cost.isInputUnsure && !this.#meter.isInputReported());
  }

  #mayHide(): boolean {
    const { isStream, asksToThink, maySearch, model } = this.#cost;
    if (!isStream || asksToThink || maySearch) return true;
    return this.#meter.hasThought() || this.#unread.hides(model);
  }
}
