export type LedgerQueryErrorCode =
  | 'search_unfinished'
  | 'too_many_rows'
  | 'too_many_readers'
  | 'ledger_unavailable';

/** An expected no to somebody who asks for something in the ledger. */
export class LedgerQueryError extends Error {
  override readonly name = 'LedgerQueryError';
  readonly code: LedgerQueryErrorCode;

  constructor(code: LedgerQueryErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}
