import { minuteTextOf } from '../lib/request-id.ts';
/**
 * Every Redis key of the project has its name here and nowhere else. The braces hold the hash tag:
 * in a Redis Cluster keys with the same tag live on the same node. Scripts are given the prefix of
 * a bucket where they have to follow a record to another one; `quota/scripts/lua/names.lua` is their half
 * of this file.
 */

/** Touched by no one: it only names the node that a probe asks. */
export function probeKey(n: number): string {
  return `gw:{p${n}}:probe`;
}

/** `tollgate doctor` writes, reads and removes it; like a probe's it has one for several nodes. */
export function doctorKey(n: number): string {
  return `gw:{p${n}}:doctor`;
}

/** Who exports the ledger and trims it; one node at a time. */
export const EXPORTER_KEY = 'gw:{x}:exporter';

/** STREAM of what operators changed. */
export const AUDIT_KEY = 'gw:{a}:audit';

/** Changes of keys and accounts are told here, to every worker of every node. */
export const CHANGES_CHANNEL = 'gw:changes';

/** The Redis keys of one bucket: all of one account, its keys and their requests. */
export interface BucketKeys {
  readonly prefix: string;
  /** HASH request id -> hold. */
  readonly holds: string;
  /** LIST of request ids as they were admitted, ended ones too until a sweep comes: see `quota/scripts/lua/holds.lua`. */
  readonly leases: string;
  /** ZSET request id by the end of its lease, once that was renewed. */
  readonly renewals: string;
  /** STREAM of everything that ever changed a balance. */
  readonly ledger: string;
  /** HASH payment -> micros. */
  readonly payments: string;
  /** SET of the ids of all accounts. */
  readonly accounts: string;
  /** HASH: an account's record. */
  account(accountId: string): string;
  /** HASH: a key's record. */
  key(keyId: string): string;
  /** SET of the ids of an account's keys. */
  keysOf(accountId: string): string;
  /** LIST: when the last requests of an account were admitted, as far as its record has no room for them; of a key too. */
  accountLog(accountId: string): string;
  /** HASH request id -> what was charged, for all requests that began in the same minute. */
  done(requestId: string): string;
}

export function bucketKeys(tag: string): BucketKeys {
  const prefix = `gw:{${tag}}:`;
  return {
    prefix,
    holds: `${prefix}holds`,
    leases: `${prefix}leases`,
    renewals: `${prefix}renewals`,
    ledger: `${prefix}ledger`,
    payments: `${prefix}payments`,
    accounts: `${prefix}accounts`,
    account: (accountId) => `${prefix}account:${accountId}`,
    key: (keyId) => `${prefix}key:${keyId}`,
    keysOf: (accountId) => `${prefix}keys:${accountId}`,
    accountLog: (accountId) => `${prefix}log:${accountId}`,
    done: (requestId) => `${prefix}done:${minuteTextOf(requestId)}`,
  };
}
