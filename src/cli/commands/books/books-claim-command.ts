import { claimBooks, readBooksId } from '../../../books/stream/books-lease.ts';
import { readIngestion } from '../../../books/writing/write-batch.ts';
import { withBooks } from '../../with-books.ts';

interface BooksClaimOptions {
  readonly configPath: string | undefined;
  readonly json: boolean;
  /** Whether books that never had an entry are accepted, although others may have them all. */
  readonly takesEmpty: boolean;
  /** Both print whole lines and end the last one. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
}

/**
 * Makes the books of these settings those of the fleet, whatever Redis remembers. Empty ones are
 * more likely a mistake in the settings than what is wanted.
 */
export function runBooksClaimCommand(options: BooksClaimOptions): Promise<number> {
  const { json, takesEmpty, out } = options;
  return withBooks({ ...options, access: 'write' }, async ({ books, place, connect }) => {
    const { books: id, version } = await readIngestion(books);
    const connection = await connect();
    const known = (await readBooksId(connection)) ?? id;
    if (known !== id && version === 0 && !takesEmpty) {
      throw new Error(
        `entries go to the books ${known}; these are ${id}, at ${place}, and never had an entry. If the others are lost, add --empty`,
      );
    }
    await claimBooks(connection, id);
    out(json ? JSON.stringify({ books: id }) : `entries go to the books ${id}`);
    return 0;
  });
}
