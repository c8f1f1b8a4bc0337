import type { QuestionContext } from './question.ts';

/** Whether the books have seen a key. They know it for good, Redis only while it has its record. */
export async function knowsKey(
  { books }: Pick<QuestionContext, 'books'>,
  key: string,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  const found = await books.db
    .selectFrom('key_names')
    .select('key')
    .where('key', '=', key)
    .executeTakeFirst();
  return found !== undefined;
}
