import { DirectoryError, type DirectoryErrorCode } from '../accounts/directory-error.ts';
import { BooksError, type BooksErrorCode } from '../books/questions/books-error.ts';
import { CatalogueError, type CatalogueErrorCode } from '../catalogue-store/catalogue-error.ts';

/** An expected refusal of the listener for operators. */
export class OpsProblem extends Error {
  override readonly name = 'OpsProblem';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields of the answer besides code and message. */
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

type ErrorCode = DirectoryErrorCode | BooksErrorCode | CatalogueErrorCode;

const STATUSES: Readonly<Record<ErrorCode, number>> = {
  account_not_found: 404,
  key_not_found: 404,
  group_not_found: 404,
  invalid_cursor: 400,
  key_revoked: 409,
  key_rotated: 409,
  changed_meanwhile: 409,
  too_many_keys: 409,
  too_many_groups: 409,
  payment_conflict: 409,
  credit_reserved: 409,
  balance_too_large: 409,
  operator_not_found: 404,
  too_many_operators: 409,
  store_unavailable: 503,
  books_unavailable: 503,
  books_busy: 503,
  books_elsewhere: 409,
  entries_dropped: 409,
  request_archived: 404,
  too_many_rows: 400,
  catalogue_changed: 409,
  catalogue_pending: 409,
  catalogue_full: 409,
  catalogue_in_file: 409,
  catalogue_too_large: 413,
  invalid_catalogue: 400,
  unknown_version: 404,
};

/** Turns an error into a refusal. Undefined if the error is not an expected one. */
export function explainError(error: unknown): OpsProblem | undefined {
  if (error instanceof OpsProblem) return error;
  if (!isExpected(error)) return undefined;
  const status = STATUSES[error.code];
  const headers: Record<string, string> =
    status === 503 ? { 'retry-after': String(STORE_RETRY_AFTER_S) } : {};
  const hasProblems = error instanceof CatalogueError && error.problems.length > 0;
  const details = hasProblems ? { problems: error.problems } : {};
  return new OpsProblem(status, error.code, error.message, { headers, details, cause: error });
}

function isExpected(error: unknown): error is DirectoryError | BooksError | CatalogueError {
  return [DirectoryError, BooksError, CatalogueError].some((kind) => error instanceof kind);
}
