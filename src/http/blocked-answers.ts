/** A whole answer that its client has not read yet. */
interface BlockedAnswer {
  /** Cuts the connection. */
  close(): void;
}

/**
 * The memory of whole answers that wait for their clients to read them. Once they take more than
 * the limit, those that began to wait first are cut off.
 */
export interface BlockedAnswers {
  readonly heldBytes: number;
  /** An answer that has to wait again keeps its place. */
  add(answer: BlockedAnswer, bytes: number): void;
  /** Does nothing if the answer never had to wait. */
  delete(answer: BlockedAnswer): void;
}

export function createBlockedAnswers(heldBytesMax: number): BlockedAnswers {
  const bytesOf = new Map<BlockedAnswer, number>();
  let heldBytes = 0;

  const remove = (answer: BlockedAnswer) => {
    heldBytes -= bytesOf.get(answer) ?? 0;
    bytesOf.delete(answer);
  };
  return {
    get heldBytes() {
      return heldBytes;
    },
    add(answer, bytes) {
      if (bytesOf.has(answer)) return;
      bytesOf.set(answer, bytes);
      heldBytes += bytes;
      for (const [oldest] of bytesOf) {
        if (heldBytes <= heldBytesMax) return;
        remove(oldest);
        oldest.close();
      }
    },
    delete: remove,
  };
}
