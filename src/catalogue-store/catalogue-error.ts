export type CatalogueErrorCode =
  | 'catalogue_changed'
  | 'catalogue_pending'
  | 'catalogue_full'
  | 'catalogue_in_file'
  | 'catalogue_too_large'
  | 'invalid_catalogue'
  | 'unknown_version';

/** Why the catalogue was not changed. The message is for the caller. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
  readonly code: CatalogueErrorCode;
  /** Every mistake in the document. */
  readonly problems: readonly string[];

  constructor(code: CatalogueErrorCode, message: string, problems: readonly string[] = []) {
    super(message);
    this.code = code;
    this.problems = problems;
  }
}
