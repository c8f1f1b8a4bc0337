import { claimBooks } from '../../../books/stream/books-lease.ts';
import { readIngestion } from '../../../books/writing/write-batch.ts';
import { withBooks } from '../../with-books.ts';

interface BooksClaimOptions {
  readonly configPath: string | undefined;
  readonly json: boolean;
  /** Both print whole lines and end the last one. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
}

/** Makes the books of these settings those of the fleet, whatever Redis remembers. */
export function runBooksClaimCommand(options: BooksClaimOptions): Promise<number> {
  return withBooks({ ...options, isReader: false }, async ({ books, connect }) => {
    const { books: id } = await readIngestion(books);
    await claimBooks(await connect(), id);
    options.out(options.json ? JSON.stringify({ books: id }) : `entries go to the books ${id}`);
    return 0;
  });
}
