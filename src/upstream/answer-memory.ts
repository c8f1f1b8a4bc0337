/** A whole answer on its way in, of which nothing can be passed on before its end. */
export interface GrowingAnswer {
  readonly accountId: string;
  /** Reads no more for now, so that the upstream waits. */
  pause(): void;
  resume(): void;
}

/**
 * The memory of whole answers that one worker reads. Once they take more than `waitBytes`, each
 * account's oldest answer alone is read on and the others wait, for what their vendors have
 * computed is paid. So one account with many large answers does not keep out the others.
 */
export interface AnswerMemory {
  readonly heldBytes: number;
  /** Returns whether there was room: the answers of all accounts have a limit as well. */
  take(answer: GrowingAnswer, bytes: number): boolean;
  /** Gives back all that the answer holds. Does nothing if it holds nothing. */
  giveBack(answer: GrowingAnswer): void;
}

interface AnswerMemoryLimits {
  readonly waitBytes: number;
  readonly heldBytesMax: number;
}

export function createAnswerMemory({ waitBytes, heldBytesMax }: AnswerMemoryLimits): AnswerMemory {
  const bytesOf = new Map<GrowingAnswer, number>();
  /** In the order in which they came. */
  const answersOf = new Map<string, Set<GrowingAnswer>>();
  const paused = new Set<GrowingAnswer>();
  let heldBytes = 0;

  const oldestOf = (accountId: string): GrowingAnswer | undefined => {
    for (const answer of answersOf.get(accountId) ?? []) return answer;
    return undefined;
  };
  const resume = (answer: GrowingAnswer) => {
    if (paused.delete(answer)) answer.resume();
  };

  return {
    get heldBytes() {
      return heldBytes;
    },
    take(answer, bytes) {
      if (heldBytes + bytes > heldBytesMax) return false;
      const { accountId } = answer;
      const answers = answersOf.get(accountId) ?? new Set();
      answersOf.set(accountId, answers.add(answer));
      bytesOf.set(answer, (bytesOf.get(answer) ?? 0) + bytes);
      heldBytes += bytes;
      if (heldBytes > waitBytes && oldestOf(accountId) !== answer && !paused.has(answer)) {
        paused.add(answer);
        answer.pause();
      }
      return true;
    },
    giveBack(answer) {
      const bytes = bytesOf.get(answer);
      if (bytes === undefined) return;
      const { accountId } = answer;
      bytesOf.delete(answer);
      paused.delete(answer);
      heldBytes -= bytes;
      const answers = answersOf.get(accountId);
      answers?.delete(answer);
      if (answers?.size === 0) answersOf.delete(accountId);
      const next = oldestOf(accountId);
      if (next !== undefined) resume(next);
      // Whoever finds that there is not enough room after all waits again.
      if (heldBytes <= waitBytes) for (const other of [...paused]) resume(other);
    },
  };
}
