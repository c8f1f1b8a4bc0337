import { listAudit } from '../books/questions/audit/list-audit.ts';
import { createBooksCheck } from '../books/questions/books-check.ts';
import { listEntries } from '../books/questions/entries/list-entries.ts';
import { explainOutage } from '../books/questions/explain-outage.ts';
import { knowsKey } from '../books/questions/knows-key.ts';
import { listRefusals } from '../books/questions/list-refusals.ts';
import type { Question, QuestionSource, StreamedQuestion } from '../books/questions/question.ts';
import { readStatus } from '../books/questions/read-status.ts';
import { createChargeFinder } from '../books/questions/receipts/charge-finder.ts';
import { findReceipt } from '../books/questions/receipts/find-receipt.ts';
import { listRequests } from '../books/questions/requests/list-requests.ts';
import type { RowBudget, RowShare } from '../books/questions/row-budget.ts';
import { searchAccounts } from '../books/questions/search-accounts.ts';
import { printStatement } from '../books/questions/statements/print-statement.ts';
import { readStatement } from '../books/questions/statements/statement.ts';
import { exportUsage } from '../books/questions/usage/export-usage.ts';
import { printUsage } from '../books/questions/usage/print-usage.ts';

/** Every question with one answer, by its name. */
const QUESTIONS = {
  findReceipt,
  knowsKey,
  listAudit,
  listRefusals,
  listRequests,
  readStatement,
  readStatus,
  searchAccounts,
};

/** Every question whose answer is a text of any length. */
const STREAMED_QUESTIONS = { exportUsage, listEntries, printStatement, printUsage };

export type BoundQuestions = Readonly<
  Record<string, (query: never, signal: AbortSignal) => Promise<unknown> | AsyncIterable<string>>
>;

/** Says which books these are, so it is answered in any case. */
const STATUS = 'readStatus';

/** All questions, to be asked of these books. Those under way share the budget. */
export function bindAnswers(source: QuestionSource, budget: RowBudget): BoundQuestions {
  const findCharged = createChargeFinder(source);
  const check = createBooksCheck(source);
  const answers: Record<string, BoundQuestions[string]> = {
    findCharged: (request: Parameters<typeof findCharged>[0]) =>
      explain(() => findCharged(request)),
  };
  for (const [name, ask] of Object.entries(QUESTIONS)) {
    const question = ask as Question<unknown, unknown>;
    answers[name] = (query: unknown, signal) =>
      explain(async () => {
        if (name !== STATUS) await check();
        const share = budget.open();
        try {
          return await question({ ...source, share }, query, signal);
        } finally {
          share.end();
        }
      });
  }
  for (const [name, ask] of Object.entries(STREAMED_QUESTIONS)) {
    const question = ask as StreamedQuestion<unknown>;
    answers[name] = (query: unknown, signal) =>
      explainStream(check, budget, (share) => question({ ...source, share }, query, signal));
  }
  return answers;
}

async function explain<Answer>(answer: () => Promise<Answer>): Promise<Answer> {
  try {
    return await answer();
  } catch (error) {
    throw explainOutage(error);
  }
}

async function* explainStream(
  check: () => Promise<void>,
  budget: RowBudget,
  read: (share: RowShare) => AsyncIterable<string>,
): AsyncIterable<string> {
  const share = budget.open();
  try {
    await check();
    yield* read(share);
  } catch (error) {
    throw explainOutage(error);
  } finally {
    share.end();
  }
}
