/** A whole answer on its way in, of which nothing can be passed on before its end. */
export interface GrowingAnswer {
  readonly accountId: string;
  /** Reads no more for now, so that the upstream waits. */
  pause(): void;
  resume(): void;
  /** Fails for want of memory. */
  giveUp(): void;
}

/**
 * The memory of whole answers that one worker reads. Once they take more than `waitBytes`, only the
 * oldest answer of each account is read on. The others wait rather than fail, because their vendors
 * bill for them. If many accounts have large answers at once, the account with the most gives up
 * its newest. So nobody's large answers keep out those of others.
 */
export interface AnswerMemory {
  readonly heldBytes: number;
  /** Returns whether there was room. */
  take(answer: GrowingAnswer, bytes: number): boolean;
  /** Gives back all that the answer holds. Does nothing if it holds nothing. */
  giveBack(answer: GrowingAnswer): void;
}

interface AnswerMemoryLimits {
  readonly waitBytes: number;
  readonly heldBytesMax: number;
}

interface AccountShare {
  bytes: number;
  /** In the order in which they came. */
  readonly answers: Map<GrowingAnswer, number>;
}

export function createAnswerMemory({ waitBytes, heldBytesMax }: AnswerMemoryLimits): AnswerMemory {
  const shares = new Map<string, AccountShare>();
  const paused = new Set<GrowingAnswer>();
  let heldBytes = 0;

  const remove = (answer: GrowingAnswer): AccountShare | undefined => {
    const { accountId } = answer;
    const share = shares.get(accountId);
    const bytes = share?.answers.get(answer);
    if (share === undefined || bytes === undefined) return undefined;
    heldBytes -= bytes;
    share.bytes -= bytes;
    share.answers.delete(answer);
    if (share.answers.size === 0) shares.delete(accountId);
    paused.delete(answer);
    return share;
  };
  const hasRoom = (bytes: number, asking: AccountShare): boolean => {
    while (heldBytes + bytes > heldBytesMax) {
      const largest = [...shares.values()].reduce(
        (one, other) => (other.bytes > one.bytes ? other : one),
        asking,
      );
      const newest = [...largest.answers.keys()].at(-1);
      if (newest === undefined || largest.bytes <= asking.bytes + bytes) return false;
      remove(newest);
      newest.giveUp();
    }
    return true;
  };
  const resume = (answer: GrowingAnswer | undefined) => {
    if (answer !== undefined && paused.delete(answer)) answer.resume();
  };

  return {
    get heldBytes() {
      return heldBytes;
    },
    take(answer, bytes) {
      const { accountId } = answer;
      const share = shares.get(accountId) ?? {
        bytes: 0,
        answers: new Map<GrowingAnswer, number>(),
      };
      if (!hasRoom(bytes, share)) return false;
      shares.set(accountId, share);
      share.answers.set(answer, (share.answers.get(answer) ?? 0) + bytes);
      share.bytes += bytes;
      heldBytes += bytes;
      if (heldBytes > waitBytes && oldestOf(share) !== answer && !paused.has(answer)) {
        paused.add(answer);
        answer.pause();
      }
      return true;
    },
    giveBack(answer) {
      const share = remove(answer);
      if (share === undefined) return;
      resume(oldestOf(share));
      // An answer that finds no room after all waits again.
      if (heldBytes <= waitBytes) for (const other of [...paused]) resume(other);
    },
  };
}

function oldestOf({ answers }: AccountShare): GrowingAnswer | undefined {
  for (const answer of answers.keys()) return answer;
  return undefined;
}
