import type { ApiKey, OwnedKey } from '../protocol/admission.ts';
import type {
  AnswerToKeep,
  ItemReferences,
  RecalledItems,
  ResponseItem,
} from '../protocol/responses/references.ts';

/** An answer that is kept with what was asked. */
export interface FoundAnswer {
  /** Reads what was asked, which may be large. */
  readonly readInput: () => readonly ResponseItem[];
  /** The whole response. */
  readonly response: ResponseItem;
}

/** Room in this worker for one answer, from its admission to its end. */
export interface AnswerReservation {
  /** Returns whether the answer is kept. Never fails: an answer goes out whether it is or not. */
  keep(answer: AnswerToKeep): Promise<boolean>;
  release(): void;
}

/** Answers that clients may refer to, each for the account that asked for it. */
export interface AnswerKeeper {
  /**
   * Checks the key, and reads what a request refers to. Throws a `Refusal` if the store cannot be
   * asked, or all of it together is larger than a body may be.
   */
  recall(key: ApiKey, references: ItemReferences, ownBytes: number): Promise<RecalledItems>;
  /** Call it if a request for which something was recalled is admitted. */
  noteAdmitted(key: ApiKey): void;
  /** Takes the items that a request brought itself. `ownBytes` is the size of its body. */
  reserve(key: OwnedKey, input: readonly ResponseItem[], ownBytes: number): AnswerReservation;
  /** Undefined if the account has no such answer. */
  find(key: ApiKey, responseId: string): Promise<FoundAnswer | undefined>;
  /** Returns whether there was such an answer. */
  forget(key: ApiKey, responseId: string): Promise<boolean>;
}
