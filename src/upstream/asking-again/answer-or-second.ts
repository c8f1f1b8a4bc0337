import { pourAnswer } from '../../protocol/answers/pour-answer.ts';
import type { Answer, InferenceCall } from '../../protocol/inference.ts';
import { Refusal } from '../../protocol/refusals.ts';

/** Another way to ask the same upstream the same thing. */
interface SecondAsk {
  /** Whether this refusal is about what the other way leaves out. */
  readonly isAvoided: (refusal: Refusal) => boolean;
  /** Throws if the request needs what the other way leaves out. */
  readonly ask: (refusal: Refusal) => Answer;
  /** Called when the second answer begins. */
  readonly noteBegun?: () => void;
}

/**
 * The answer to a request that is sent once more, in another way, if its upstream refuses it. Both
 * are one try.
 */
export class AnswerOrSecond implements Answer {
  #answer: Answer;
  /** Kept until the answer has begun. */
  #second: SecondAsk | undefined;
  readonly #isUnread: () => boolean;

  constructor(first: Answer, { isUnread }: Pick<InferenceCall, 'isUnread'>, second: SecondAsk) {
    this.#answer = first;
    this.#isUnread = isUnread;
    this.#second = second;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next() {
    const second = this.#second;
    this.#second = undefined;
    try {
      return await this.#answer.next();
    } catch (error) {
      if (second === undefined || this.#isUnread() || !isAvoided(error, second)) throw error;
      this.#answer = second.ask(error);
      const begun = await this.#answer.next();
      second.noteBegun?.();
      return begun;
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

function isAvoided(error: unknown, second: SecondAsk): error is Refusal {
  return error instanceof Refusal && error.refusal === 'invalid_request' && second.isAvoided(error);
}
