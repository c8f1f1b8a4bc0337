import type { MessageToPrimary } from '../messages/worker-messages.ts';
import { encodeSettlement, type Settlement } from '../quota/settlement/settlement.ts';

/**
 * A primary that does not answer within this time is stuck or gone. The worker then keeps its
 * settlements.
 */
const ANSWER_TIME_MAX_MS = 5_000;

interface HandOver {
  /**
   * Resolves when the primary has the settlements on its disk. Rejects if it does not say so in
   * time.
   */
  send(settlements: readonly Settlement[]): Promise<void>;
  noteJournalled(id: number): void;
}

export function createHandOver(tellPrimary: (message: MessageToPrimary) => void): HandOver {
  const waiting = new Map<number, () => void>();
  let lastId = 0;
  return {
    send(settlements) {
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(id);
          reject(new Error('the primary did not take the settlements'));
        }, ANSWER_TIME_MAX_MS);
        waiting.set(id, () => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve();
        });
        tellPrimary({ type: 'journal', id, settlements: settlements.map(encodeSettlement) });
      });
    },
    noteJournalled: (id) => waiting.get(id)?.(),
  };
}
