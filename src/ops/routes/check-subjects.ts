import type { Directory } from '../../accounts/directory.ts';
import { DirectoryError } from '../../accounts/directory-error.ts';
import type { BooksDesk } from '../books-desk.ts';

interface Subjects {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
}

interface SubjectSources {
  readonly directory: Directory;
  readonly books: Pick<BooksDesk, 'knowsKey'>;
}

/**
 * Refuses a wrong id, which would look like an id without requests. A key may be known to the
 * books alone: its record is removed a long time after the key was revoked.
 */
export async function checkSubjects(
  { directory, books }: SubjectSources,
  { account, key }: Subjects,
  signal: AbortSignal,
): Promise<void> {
  if (account !== undefined) await directory.getAccount(account);
  if (key === undefined) return;
  try {
    await directory.getKey(key);
  } catch (error) {
    const isMissing = error instanceof DirectoryError && error.code === 'key_not_found';
    if (!isMissing || !(await books.knowsKey(key, signal))) throw error;
  }
}
