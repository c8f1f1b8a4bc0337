import type { UsageRow } from '../../api/books-types.ts';

/** What the rows of a table of usage stand for. */
export interface UsageSubject {
  /** `Model`. */
  readonly what: string;
  readonly nameOf: (row: UsageRow) => string;
  /** Where the name leads to. */
  readonly hrefOf?: (row: UsageRow) => string;
}

export const BY_MODEL: UsageSubject = {
  what: 'Model',
  nameOf: ({ model }) => model || 'no model',
};

export const BY_KEY: UsageSubject = {
  what: 'Key',
  nameOf: ({ key, key_name: name }) => name || key || 'no key',
  hrefOf: ({ key }) => `#/keys/${key}`,
};

export const BY_ACCOUNT: UsageSubject = {
  what: 'Account',
  nameOf: ({ account, account_name: name }) => name || account || 'no account',
  hrefOf: ({ account }) => `#/accounts/${account}`,
};
