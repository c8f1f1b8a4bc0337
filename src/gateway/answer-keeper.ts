import type { ApiKey } from '../protocol/admission.ts';
import type {
  AnswerToKeep,
  ItemReferences,
  RecalledItems,
  ResponseItem,
} from '../protocol/responses/references.ts';

/** An answer that is kept with what was asked. */
export interface FoundAnswer {
  readonly input: readonly ResponseItem[];
  /** The whole response. */
  readonly response: ResponseItem;
}

/** One answer, from its admission to its end. Until then it takes up room in this worker. */
export interface AnswerPlace {
  /** Returns whether the answer is kept. Never fails: an answer goes out whether it is or not. */
  keep(answer: AnswerToKeep): Promise<boolean>;
  /** Gives the room back. */
  end(): void;
}

/** Answers that clients may refer to, each for the account that asked for it. */
export interface AnswerKeeper {
  /**
   * Checks the key, and reads what a request refers to. Throws a `Refusal` if the store cannot be
   * asked, or all of it together is larger than a body may be.
   */
  recall(key: ApiKey, references: ItemReferences, bodyBytes: number): Promise<RecalledItems>;
  /** Begins with what a request has brought, whose body had so many bytes. */
  begin(key: ApiKey, input: readonly ResponseItem[], bodyBytes: number): AnswerPlace;
  /** Undefined if the account has no such answer. */
  find(key: ApiKey, responseId: string): Promise<FoundAnswer | undefined>;
  /** Returns whether there was such an answer. */
  forget(key: ApiKey, responseId: string): Promise<boolean>;
}
