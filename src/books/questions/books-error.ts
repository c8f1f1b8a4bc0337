export type BooksErrorCode =
  /** The database or Redis does not answer, or the books are not set up yet. */
  | 'books_unavailable'
  /** Too many questions are under way, or they keep too many rows in memory. */
  | 'books_busy'
  /** The fleet has other books than this node. */
  | 'books_elsewhere'
  | 'invalid_cursor'
  | 'too_many_rows'
  /** The entries that would be needed are no longer in the books. */
  | 'entries_dropped'
  /** The day of a request has left the books. */
  | 'request_archived';

/**
 * An expected rejection of a question about the books. Code and message are all of it, so it can
 * cross threads as those two texts.
 */
export class BooksError extends Error {
  override readonly name = 'BooksError';
  readonly code: BooksErrorCode;

  constructor(code: BooksErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}
