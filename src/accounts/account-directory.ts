import { bucketOfAccount, mintAccountId } from '../keys/account-id.ts';
import { BUCKETS } from '../keys/bucket-tags.ts';
import { assert } from '../lib/assert.ts';
import type { Clock } from '../lib/time/clock.ts';
import { type RandomBytes, randomBase62 } from '../lib/units/base62.ts';
import type { Limit } from '../limits/limit.ts';
import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import {
  ACCOUNT_FIELDS,
  type Account,
  type AccountPatch,
  decodeAccount,
  encodePatch,
} from './account.ts';
import { changeRecord, type RecordChange, WRITE_ID_CHARS } from './change-record.ts';
import { refuseMissingAccount } from './directory-error.ts';
import { explainCredit, type PaymentResult } from './explain-credit.ts';
import { listAccountIds } from './list-account-ids.ts';
import { type RecordStore, readEach, type Texts } from './record-store.ts';
import type { Writer } from './writer.ts';

interface AccountDetails {
  readonly name: string;
  readonly plan: string;
  readonly limits?: readonly Limit[] | undefined;
  readonly lowMicros?: number | null | undefined;
}

export interface AccountList {
  readonly accounts: readonly Account[];
  /** The value of `after` for the next page; undefined on the last page. */
  readonly next: string | undefined;
}

interface AccountsQuestion {
  readonly after?: string | undefined;
  readonly limit: number;
}

interface PaymentOrder {
  /** Negative to take from the balance. */
  readonly micros: number;
  /** The payer's own id of the payment. Each account enters a payment with the same id once. */
  readonly id: string;
  readonly note: string;
}

export interface AccountDirectory {
  createAccount(details: AccountDetails): Promise<Account>;
  /** Creates an account with this id, unless it exists. */
  ensureAccount(id: string, details: AccountDetails): Promise<void>;
  /** Given a version, changes nothing unless the account still has it. All patches do so. */
  patchAccount(
    id: string,
    patch: AccountPatch,
    baseVersion?: number,
  ): Promise<RecordChange<Account>>;
  getAccount(id: string): Promise<Account>;
  /** Lists accounts in the order of their ids. */
  listAccounts(question: AccountsQuestion): Promise<AccountList>;
  addCredits(accountId: string, payment: PaymentOrder): Promise<PaymentResult>;
}

interface AccountDirectoryOptions {
  readonly store: RecordStore;
  readonly writer: Writer;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
}

export function createAccountDirectory(options: AccountDirectoryOptions): AccountDirectory {
  const { store, writer, randomBytes, clock } = options;

  const readTexts = async (id: string): Promise<Texts> => {
    const texts = await store.readRecord(placeOf(id).record, ACCOUNT_FIELDS);
    if (texts === undefined) throw refuseMissingAccount(id);
    return texts;
  };
  const read = async (id: string) => decodeAccount(id, await readTexts(id));

  const create = async (id: string, details: AccountDetails) => {
    const created = String(clock.nowMs());
    const fields = { ...encodePatch(details), status: 'active', created };
    const { record, index } = placeOf(id);
    const writeId = randomBase62(WRITE_ID_CHARS, randomBytes);
    const what = { expected: 'new', overlapMs: undefined, fields };
    const reply = await writer.writeRecord({
      ...{ subject: 'account', id, record, index, writeId },
      ...what,
    });
    return { reply, fields };
  };

  return {
    async createAccount(details) {
      const id = mintAccountId((randomBytes(1)[0] ?? 0) % BUCKETS, randomBytes);
      const { reply, fields } = await create(id, details);
      assert(reply.kind === 'written', 'a new account has an id of its own');
      return decodeAccount(id, { ...fields, version: String(reply.version) });
    },
    async ensureAccount(id, details) {
      await create(id, details);
    },
    async patchAccount(id, patch, baseVersion) {
      const fields = encodePatch(patch);
      const { record, index } = placeOf(id);
      return await changeRecord({
        read: () => readTexts(id),
        decode: (texts) => decodeAccount(id, texts),
        indexOf: () => index,
        prepare: () => ({ fields, overlapMs: undefined }),
        ...{ subject: 'account', id, record, writer, randomBytes, baseVersion },
      });
    },
    getAccount: read,
    async listAccounts({ after, limit }) {
      // One more shows whether there is another page.
      const ids = await listAccountIds(store, after, limit + 1);
      const accounts = await readEach(ids.slice(0, limit), read);
      return { accounts, next: ids.length > limit ? accounts.at(-1)?.id : undefined };
    },
    async addCredits(accountId, { micros, id, note }) {
      const reply = await writer.writePayment({
        bucket: placeOf(accountId).bucket,
        accountId,
        paymentId: id,
        micros,
        kind: micros < 0 ? 'adjustment' : 'topup',
        isForced: false,
        note,
      });
      return explainCredit(reply, { accountId, id, micros });
    },
  };
}

function placeOf(id: string) {
  const bucket = bucketOfAccount(id);
  if (bucket === undefined) throw refuseMissingAccount(id);
  const { account, accounts } = keysOfBucket(bucket);
  return { bucket, record: account(id), index: accounts };
}
