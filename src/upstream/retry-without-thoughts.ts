import { pourAnswer } from '../protocol/answers/pour-answer.ts';
import type { Answer, Infer, InferenceCall } from '../protocol/inference.ts';
import { Refusal } from '../protocol/refusals.ts';
import { refuseBound } from './bind-thoughts.ts';

/** How vendors say that they did not sign a thought. */
const SIGNATURE_REFUSED = /signature|`?thinking`? block/i;

/**
 * Asks an upstream again without the thoughts of another one, if it refuses them and the model need
 * not go on from them. It may take them: several upstreams can be the same vendor.
 */
export function retryWithoutThoughts(upstream: string, infer: Infer): Infer {
  return (call) => {
    const origin = call.reasoning?.origin;
    return origin === undefined || origin === upstream
      ? infer(call)
      : new AnswerWithoutThoughts(infer, call);
  };
}

class AnswerWithoutThoughts implements Answer {
  #answer: Answer;
  /** Asks again; kept until the answer has begun. */
  #askAgain: (() => Answer) | undefined;
  readonly #isUnread: () => boolean;

  constructor(infer: Infer, call: InferenceCall) {
    this.#answer = infer(call);
    this.#isUnread = call.isUnread;
    this.#askAgain = () => {
      if (call.reasoning !== undefined && call.reasoning.bound.length > 0) throw refuseBound(call);
      return infer({ ...call, reasoning: undefined });
    };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next() {
    const askAgain = this.#askAgain;
    this.#askAgain = undefined;
    try {
      return await this.#answer.next();
    } catch (error) {
      if (askAgain === undefined || this.#isUnread() || !isAboutSignature(error)) throw error;
      this.#answer = askAgain();
      return this.#answer.next();
    }
  }

  pour(take: Parameters<NonNullable<Answer['pour']>>[0]) {
    return pourAnswer(this.#answer, take);
  }

  isSent(): boolean {
    return this.#answer.isSent?.() ?? true;
  }

  async return() {
    await this.#answer.return?.();
    return { done: true as const, value: undefined };
  }
}

function isAboutSignature(error: unknown): boolean {
  return (
    error instanceof Refusal &&
    error.refusal === 'invalid_request' &&
    SIGNATURE_REFUSED.test(error.message)
  );
}
