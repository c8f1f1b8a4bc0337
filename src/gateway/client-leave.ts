import { StopSource } from '../lib/time/stop-signal.ts';
import type { Bill } from '../protocol/admission.ts';
import type { Answer } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { AnswerDrains, Drain, UnreadAnswer } from './answer-drains.ts';
import type { AnswerEnd, Meter } from './meter.ts';
import type { ClientSide } from './steps.ts';

/** Ends an answer whose client did not leave by itself: it read nothing for too long. */
export const CUT_OFF = new Error('the client was cut off');

/** What an answer may cost that its client does not see. */
export interface HiddenCost {
  readonly model: string;
  readonly isStream: boolean;
  readonly asksToThink: boolean;
  /** What is found is read by the model, and how much that was is told in the end. */
  readonly maySearch: boolean;
  /** What a cache has of the input, and what is written to one, shows when the answer begins. */
  readonly usesCache: boolean;
  readonly requestBytes: number;
}

/**
 * What becomes of an answer when its client leaves. Nobody may have what an upstream is paid for by leaving before it
 * is told: where a client cannot see all of the cost, the answer is read on for its usage; else the upstream is stopped.
 *
 *   here ──client gone──▶ draining ──all told──▶ over
 *    │                       │ timeout, revoked, the worker ends
 *    └──nothing is hidden, or not sent, or no room──▶ stopped
 *
 * A class, because one is made for every request.
 */
export class ClientLeave implements UnreadAnswer {
  /** For the upstream. */
  readonly signal = new StopSource();
  readonly #client: ClientSide;
  readonly #meter: Meter;
  readonly #drains: AnswerDrains;
  readonly #cost: HiddenCost;
  #answer: Answer | undefined;
  #drain: Drain | undefined;
  #state: 'here' | 'draining' | 'stopped' = 'here';
  #wasSent = false;
  /** What the answer had cost when its client left. */
  #seenMicros = 0;

  constructor(client: ClientSide, meter: Meter, drains: AnswerDrains, cost: HiddenCost) {
    this.#client = client;
    this.#meter = meter;
    this.#drains = drains;
    this.#cost = cost;
    if (client.signal.aborted) this.#onGone();
    else client.signal.addEventListener('abort', this.#onGone);
  }

  follow(answer: Answer): void {
    this.#answer = answer;
  }

  get requestBytes(): number {
    return this.#meter.hasBegun() ? 0 : this.#cost.requestBytes;
  }

  get hasLeft(): boolean {
    return this.#state !== 'here' && !(this.#client.signal.reason instanceof Refusal);
  }

  get isDraining(): boolean {
    return this.#state === 'draining';
  }

  /** Whether an upstream was sent the request; when the client has left, whether it was by then. */
  isSent(): boolean {
    return this.#state === 'here'
      ? (this.#answer?.isSent?.() ?? this.#answer !== undefined)
      : this.#wasSent;
  }

  /** To be asked when there is nobody to write to: whether more of the answer is wanted all the same. */
  readsOn(): boolean {
    if (this.#state === 'here') this.#leave(CUT_OFF);
    if (this.#state === 'draining' && !this.#isWorthReading()) this.stop();
    return this.#state === 'draining';
  }

  /** The key was shut. */
  refuse(refusal: Refusal): void {
    this.#client.abort(refusal);
    this.stop();
  }

  stop(): void {
    const { signal } = this.#client;
    this.#stop(signal.aborted ? signal.reason : CUT_OFF);
  }

  /** What is charged in the end. What is read for nobody costs nobody more than was held. */
  close(end: AnswerEnd, heldMicros: number): Bill {
    this.#drains.end(this.#drain);
    const { model, asksToThink } = this.#cost;
    const bill = this.#meter.close(end, this.isSent());
    if (bill.usage.thinking > 0 && !asksToThink) this.#drains.noteHiding(model);
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
    if (isSent && this.#isWorthReading()) this.#drain = this.#drains.begin(this);
    if (this.#drain === undefined) {
      this.#stop(reason);
      return;
    }
    this.#noteLeft();
    this.#state = 'draining';
  }

  #stop(reason: unknown): void {
    if (this.#state === 'here') this.#noteLeft();
    this.#state = 'stopped';
    this.#drains.end(this.#drain);
    this.signal.abort(reason);
  }

  #noteLeft(): void {
    this.#wasSent = this.isSent();
    this.#seenMicros = this.#meter.seenMicros(this.#wasSent);
  }

  #isWorthReading(): boolean {
    return this.#mayHide() || (this.#cost.usesCache && !this.#meter.hasBegun());
  }

  #mayHide(): boolean {
    const { isStream, asksToThink, maySearch, model } = this.#cost;
    if (!isStream || asksToThink || maySearch) return true;
    return this.#meter.hasThought() || this.#drains.hides(model);
  }
}
