export type DirectoryErrorCode =
  | 'account_not_found'
  | 'key_not_found'
  | 'group_not_found'
  | 'invalid_cursor'
  | 'key_revoked'
  | 'key_rotated'
  | 'changed_meanwhile'
  | 'too_many_keys'
  | 'too_many_groups'
  | 'payment_conflict'
  | 'credit_reserved'
  | 'balance_too_large'
  | 'operator_not_found'
  | 'too_many_operators'
  | 'store_unavailable';

/** Why the directory did not do what it was asked to do. The message is for the caller. */
export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
  readonly code: DirectoryErrorCode;
  /** Whether a change may have taken place nevertheless. */
  readonly isInDoubt: boolean;

  constructor(
    code: DirectoryErrorCode,
    message: string,
    { isInDoubt = false, ...options }: ErrorOptions & { readonly isInDoubt?: boolean } = {},
  ) {
    super(message, options);
    this.code = code;
    this.isInDoubt = isInDoubt;
  }
}

export function refuseMissingAccount(id: string): DirectoryError {
  return new DirectoryError('account_not_found', `there is no account ${id}`);
}

export function refuseMissingKey(id: string): DirectoryError {
  return new DirectoryError('key_not_found', `there is no key ${id}`);
}
