import { createQuestions } from '../messages/create-questions.ts';
import type { MessageToPrimary } from '../messages/worker-messages.ts';
import { encodeSettlement, type Settlement } from '../quota/settlement/settlement.ts';

/**
 * A primary that does not answer within this time is stuck or gone. The worker then keeps its
 * settlements.
 */
const ANSWER_TIME_MAX_MS = 5_000;

interface HandOver {
  /**
   * Resolves when the primary has written the settlements to its disk. Rejects if the primary does
   * not confirm that in time.
   */
  send(settlements: readonly Settlement[]): Promise<void>;
  noteJournalled(id: number): void;
}

export function createHandOver(sendToPrimary: (message: MessageToPrimary) => void): HandOver {
  const questions = createQuestions<void>({
    answerTimeMaxMs: ANSWER_TIME_MAX_MS,
    failure: 'the primary did not take the settlements',
  });
  return {
    send: (settlements) =>
      questions.ask((id) =>
        sendToPrimary({ type: 'journal', id, settlements: settlements.map(encodeSettlement) }),
      ),
    noteJournalled: (id) => questions.noteAnswer(id),
  };
}
