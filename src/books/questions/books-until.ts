import { readBooksProgress } from '../stream/books-lease.ts';
import type { QuestionContext } from './question.ts';

/** As answers say it; null where it is not known. */
export async function readBooksUntil({
  connection,
}: Pick<QuestionContext, 'connection'>): Promise<string | null> {
  const progress = await readBooksProgress(connection);
  return progress?.untilMs === undefined ? null : new Date(progress.untilMs).toISOString();
}
