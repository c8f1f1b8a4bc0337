import type { Price } from '../catalogue/catalogue.ts';
import { type BodyBound, estimateInput } from '../catalogue/estimate-hold.ts';
import type { TokenEstimate } from '../catalogue/estimate-tokens.ts';
import { ENDING_TOKENS_MAX, type LimitedUsage, limitUsage } from '../catalogue/limit-usage.ts';
import { priceUsage } from '../catalogue/price-usage.ts';
import { countUtf8Bytes } from '../lib/bytes/count-utf8-bytes.ts';
import type { Bill } from '../protocol/admission.ts';
import { countContentBytes } from '../protocol/answers/count-content-bytes.ts';
import { NO_USAGE } from '../protocol/answers/no-usage.ts';
import { inputOf, isSameUsage } from '../protocol/answers/raise-usage.ts';
import type { BlockStart, InferenceEvent, Usage } from '../protocol/inference.ts';
import type { TokenRatio } from './token-ratios.ts';

/**
 * How an answer ended:
 * - `complete`: with all it had to say;
 * - `failed`: the upstream broke or refused after the beginning was delivered;
 * - `undelivered`: it did so before the beginning was delivered;
 * - `left`: the client left, was cut off or lost its key.
 */
export type AnswerEnd = 'complete' | 'failed' | 'undelivered' | 'left';

/** Follows the events of one answer and computes what it costs. */
export interface Meter {
  /** Sets the most output tokens that the upstream is asked for. */
  limitOutput(tokensMax: number): void;
  /**
   * Returns the event as it is, except a finish, which gets the usage that is charged. Call this
   * for every event of every answer.
   */
  note(event: InferenceEvent): InferenceEvent;
  /** The same for deltas of which only the bytes were counted. */
  noteContent(bytes: number): void;
  hasBegun(): boolean;
  isInputReported(): boolean;
  /** Whether some of the output is thoughts, which an upstream need not report in full. */
  hasThought(): boolean;
  /** What the answer would cost if it ended here. */
  seenMicros(isSent: boolean): number;
  /**
   * If the client left, the answer costs its input once the request was sent to the upstream, even
   * if it has not begun.
   */
  close(how: AnswerEnd, isSent: boolean): Bill;
}

export interface MeterOptions {
  readonly price: Price;
  /** For answers whose input no upstream has counted. */
  readonly estimate: TokenEstimate;
  readonly ratio: TokenRatio;
  /** For estimates: an upstream that counts nothing may cut longer input. */
  readonly contextTokensMax: number;
  readonly input: Pick<BodyBound, 'reportedTokensMax'>;
  readonly outputTokensMax: number;
  readonly searchesMax: number;
}

export function createMeter(options: MeterOptions): Meter {
  return new UsageMeter(options);
}

interface Count {
  readonly usage: Usage;
  readonly isEstimated: boolean;
}

/** Hardly any text has tokens that are longer than usual by this factor, on average. */
const LONGEST_FACTOR = 2;
/**
 * A report that is repeated at the end may miss a little of the answer. If more than this many
 * times its tokens came after it, it was made before the answer.
 */
const BEHIND_FACTOR_MAX = 10;

class UsageMeter implements Meter {
  readonly #options: MeterOptions;
  #outputTokensMax: number;
  #started: Usage | undefined;
  /** The last usage the upstream reported after the start event. */
  #reported: Usage | undefined;
  /** How many bytes had been delivered by then. */
  #bytesAtReport = 0;
  #isFinished = false;
  #hasThought = false;
  #deliveredBytes = 0;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#outputTokensMax = options.outputTokensMax;
  }

  limitOutput(tokensMax: number): void {
    this.#outputTokensMax = tokensMax;
  }

  note(event: InferenceEvent): InferenceEvent {
    switch (event.type) {
      case 'delta':
        this.#deliveredBytes += countContentBytes(event.delta);
        break;
      case 'start':
        this.#started = event.usage;
        break;
      case 'block_start':
        this.#noteBlock(event.block);
        break;
      case 'usage':
        this.#noteReported(event.usage);
        break;
      case 'finish':
        this.#isFinished = true;
        this.#noteLast(event.usage);
        return this.#reportCharged(event);
    }
    return event;
  }

  /** The name of a called tool is content, and all of it if the call has no input. */
  #noteBlock(block: BlockStart): void {
    if (block.type === 'tool_use') this.#deliveredBytes += countUtf8Bytes(block.name);
    this.#hasThought ||= block.type === 'thinking' || block.type === 'redacted_thinking';
  }

  noteContent(bytes: number): void {
    this.#deliveredBytes += bytes;
  }

  hasBegun(): boolean {
    return this.#started !== undefined || this.#deliveredBytes > 0 || this.#isFinished;
  }

  isInputReported(): boolean {
    return this.#findInput() !== undefined;
  }

  hasThought(): boolean {
    return this.#hasThought || (this.#reported?.thinking ?? 0) > 0;
  }

  seenMicros(isSent: boolean): number {
    return isSent || this.hasBegun() ? this.#close().chargeMicros : 0;
  }

  close(how: AnswerEnd, isSent: boolean): Bill {
    const isFree =
      how === 'undelivered' ||
      (how === 'failed' && this.#deliveredBytes === 0 && !this.#hasSearched()) ||
      (how === 'left' && !isSent && !this.hasBegun());
    if (isFree) return FREE;
    const bill = this.#close();
    if (how === 'complete') this.#learn(bill);
    return bill;
  }

  /** Searches are billed even if the upstream breaks before it says what it found. */
  #hasSearched(): boolean {
    return (this.#reported?.searches ?? 0) + (this.#started?.searches ?? 0) > 0;
  }

  #learn({ usage, isEstimated, isImplausible }: Bill): void {
    if (isEstimated || isImplausible || this.#deliveredBytes === 0 || this.hasThought()) return;
    this.#options.ratio.note(this.#deliveredBytes, usage.output);
  }

  #close(): Bill {
    const { usage: counted, isEstimated } = this.#count();
    const { usage, isImplausible } = this.#limit(counted);
    const chargeMicros = priceUsage(usage, this.#options.price);
    return { usage, chargeMicros, isEstimated, isImplausible };
  }

  #limit(usage: Usage): LimitedUsage {
    const { input, searchesMax, estimate } = this.#options;
    const inputTokensMax = input.reportedTokensMax;
    const outputTokensMax = this.#outputTokensMax;
    const outputTokensSure = this.#findSureOutput();
    const { cacheWrite } = estimate;
    const asked = { outputTokensMax, inputTokensMax, searchesMax, cacheWrite };
    return limitUsage(usage, { ...asked, outputTokensSure });
  }

  /** The fewest tokens that the delivered bytes can be, if even those are too many; else 0. */
  #findSureOutput(): number {
    const sure = Math.floor(this.#deliveredBytes / this.#longestBytes);
    return sure > this.#outputTokensMax + ENDING_TOKENS_MAX ? sure : 0;
  }

  #reportCharged(finish: Extract<InferenceEvent, { type: 'finish' }>): InferenceEvent {
    const { usage } = this.#limit(this.#count().usage);
    return usage === finish.usage ? finish : { ...finish, usage };
  }

  #noteReported(usage: Usage): void {
    this.#reported = usage;
    this.#bytesAtReport = this.#deliveredBytes;
  }

  /** A finish without a usage of its own repeats the last one. */
  #noteLast(usage: Usage | undefined): void {
    if (usage === undefined) return;
    if (this.#reported === undefined || !isSameUsage(usage, this.#reported)) {
      this.#noteReported(usage);
    }
  }

  /**
   * The upstream's own count, unless it leaves out delivered output or the input. Then an estimate.
   */
  #count(): Count {
    const reported = this.#reported;
    if (reported === undefined) return this.#estimate();
    const lacksInput = inputOf(reported) === 0 && reported.output + this.#deliveredBytes > 0;
    const lacksOutput = reported.output === 0 && this.#deliveredBytes > 0;
    const isWhole = this.#isUpToDate(reported) && !lacksInput && !lacksOutput;
    return isWhole ? { usage: reported, isEstimated: false } : this.#estimate();
  }

  #isUpToDate({ output }: Usage): boolean {
    const bytesSince = this.#deliveredBytes - this.#bytesAtReport;
    if (!this.#isFinished) return bytesSince === 0;
    return bytesSince <= BEHIND_FACTOR_MAX * output * this.#longestBytes;
  }

  /** How long tokens can be. */
  get #longestBytes(): number {
    return LONGEST_FACTOR * this.#options.ratio.bytesPerToken;
  }

  /**
   * The estimate adds no output beyond what was asked for, however few bytes a token is assumed to
   * have, unless that has surely been delivered.
   */
  #estimate(): Count {
    const reported = this.#reported ?? NO_USAGE;
    const isCounted = reported.output > 0;
    const unreportedBytes = this.#deliveredBytes - (isCounted ? this.#bytesAtReport : 0);
    const isAllCounted = this.#isFinished && isCounted && this.#isUpToDate(reported);
    const unreported = isAllCounted ? 0 : unreportedBytes / this.#options.ratio.bytesPerToken;
    const outputTokensMax = Math.max(this.#outputTokensMax, this.#findSureOutput());
    const delivered = Math.min(reported.output + Math.ceil(unreported), outputTokensMax);
    const output = Math.max(isCounted ? reported.output : (this.#started?.output ?? 0), delivered);
    const { thinking, searches } = this.#reported ?? this.#started ?? NO_USAGE;
    const input = this.#findInput() ?? this.#estimateInput();
    return {
      usage: { ...input, output, thinking: Math.min(thinking, output), searches },
      isEstimated: true,
    };
  }

  #findInput(): Usage | undefined {
    const reported = this.#reported;
    if (reported !== undefined && inputOf(reported) > 0) return reported;
    const started = this.#started;
    return started !== undefined && inputOf(started) > 0 ? started : undefined;
  }

  /**
   * Upstreams that charge extra for cache writes report their input when they begin; one that has
   * begun without a report is not one of them.
   */
  #estimateInput(): Usage {
    const { estimate, price, contextTokensMax } = this.#options;
    const likely = Math.min(estimate.likely, contextTokensMax);
    if (!this.hasBegun()) return estimateInput({ ...estimate, likely }, price);
    return { ...NO_USAGE, input: likely };
  }
}

const FREE: Bill = { usage: NO_USAGE, chargeMicros: 0, isEstimated: false, isImplausible: false };
