/** A whole answer that its client has not read yet. */
interface UnreadAnswer {
  /** Cuts the connection. */
  close(): void;
}

/**
 * The memory of whole answers that wait for their clients to read them. Once they take more than
 * the limit, those that began to wait first are cut off.
 */
export interface UnreadAnswers {
  readonly heldBytes: number;
  /** An answer that has to wait again keeps its place. */
  add(answer: UnreadAnswer, bytes: number): void;
  /** Does nothing if the answer never had to wait. */
  delete(answer: UnreadAnswer): void;
}

export function createUnreadAnswers(heldBytesMax: number): UnreadAnswers {
  const bytesOf = new Map<UnreadAnswer, number>();
  let heldBytes = 0;

  const remove = (answer: UnreadAnswer) => {
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
