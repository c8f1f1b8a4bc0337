import { readBooksProgress } from '../stream/books-lease.ts';
import type { QuestionContext } from './question.ts';

/** In the form that answers use; null if it is not known. */
export async function readBooksUntil({
  connection,
}: Pick<QuestionContext, 'connection'>): Promise<string | null> {
  const progress = await readBooksProgress(connection);
  return progress?.untilMs === undefined ? null : new Date(progress.untilMs).toISOString();
}
