import { DirectoryError, type DirectoryErrorCode } from '../accounts/directory-error.ts';
import { BooksError, type BooksErrorCode } from '../books/questions/books-error.ts';

/** An expected refusal of the listener for operators. */
export class OpsProblem extends Error {
  override readonly name = 'OpsProblem';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of the answer beside code and message. */
  readonly details: object;

  constructor(
    status: number,
    code: string,
    message: string,
    options: ErrorOptions & {
      readonly headers?: Readonly<Record<string, string>>;
      readonly details?: object;
    } = {},
  ) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.details = options.details ?? {};
  }
}

const STORE_RETRY_AFTER_S = 2;

const STATUSES: Readonly<Record<DirectoryErrorCode | BooksErrorCode, number>> = {
  account_not_found: 404,
  key_not_found: 404,
  invalid_cursor: 400,
  key_revoked: 409,
  changed_meanwhile: 409,
  too_many_keys: 409,
  payment_conflict: 409,
  credit_reserved: 409,
  balance_too_large: 409,
  store_unavailable: 503,
  books_unavailable: 503,
  books_busy: 503,
  books_elsewhere: 409,
  entries_dropped: 409,
  request_archived: 404,
  too_many_rows: 400,
};

/** Turns an error into a refusal. Undefined if the error is not an expected one. */
export function explainError(error: unknown): OpsProblem | undefined {
  if (error instanceof OpsProblem) return error;
  if (!isExpected(error)) return undefined;
  const status = STATUSES[error.code];
  const headers: Record<string, string> =
    status === 503 ? { 'retry-after': String(STORE_RETRY_AFTER_S) } : {};
  return new OpsProblem(status, error.code, error.message, { headers, cause: error });
}

function isExpected(error: unknown): error is DirectoryError | BooksError {
  return [DirectoryError, BooksError].some((kind) => error instanceof kind);
}
