import { minuteTextOf } from '../lib/request-id.ts';

/**
 * The names of all Redis keys of the project. The braces hold the hash tag: in a Redis Cluster,
 * keys with the same tag live on the same node. Scripts get the names of their keys from here, or
 * the prefix of a bucket if they follow one record to another: then they make the name of the other
 * one as it is here, most of them in `quota/scripts/lua/names.lua`.
 */

/** No probe reads or writes this key. It only selects the node that the probe asks. */
export function probeKey(n: number): string {
  return `gw:{p${n}}:probe`;
}

/**
 * `tollgate doctor` writes, reads and removes this key. Like probe keys, each `n` has a key of its
 * own, to reach several nodes.
 */
export function doctorKey(n: number): string {
  return `gw:{p${n}}:doctor`;
}

/** One hash tag, so that a script sees them at one moment. */
export const BOOKS_KEYS = {
  /** Names the node that writes the books; only one node does so at a time. */
  lease: 'gw:{x}:books',
  /** The id of the books that the entries of all nodes go to. */
  id: 'gw:{x}:books-id',
  /** HASH: up to which moment the books are, and how many entries Redis has. */
  progress: 'gw:{x}:books-progress',
} as const;

/** The entries of all ledgers; one node at a time counts them. One hash tag, as above. */
export const COUNT_KEYS = {
  /** Names the node that counts. */
  counter: 'gw:{x}:books-counter',
  /** What it has counted. */
  waiting: 'gw:{x}:books-waiting',
} as const;

/** Names the process that archives the books; only one does so at a time. */
export const ARCHIVER_KEY = 'gw:{x}:books-archiver';

/** What the nodes of a fleet know of each other. */
export const FLEET_KEYS = {
  /** HASH id of a member -> its last beat. */
  members: 'gw:{f}:members',
  /** HASH id of a member -> its state in full, packed. */
  details: 'gw:{f}:details',
  /** LIST of the rows of the last hour, the oldest first. */
  history: 'gw:{f}:history',
  /** Names the run of a node that adds up for all; only one does so at a time. */
  lease: 'gw:{f}:lease',
  /** What the holder of the lease says of all members. */
  facts: 'gw:{f}:facts',
  /** Exists while somebody listens to what all nodes do. */
  listened: 'gw:{f}:listened',
} as const;

/** The messages that nodes send each other. */
export const FLEET_CHANNEL = 'gw:fleet';
/** What nodes do, published while somebody listens to them. */
export const FLEET_LIVE_CHANNEL = 'gw:fleet-live';
/** What a node says to itself, and nobody else listens to. */
export function fleetEchoChannel(line: string): string {
  return `gw:fleet-echo:${line}`;
}

/** Who sweeps; one hash tag, so that a script sees both at one moment. */
export const SWEEPER_KEYS = {
  /** ZSET of the nodes that sweep, all with the same score: a node has a place among them. */
  order: 'gw:{s}:sweepers',
  /** ZSET of the same nodes by when they were last heard. */
  heard: 'gw:{s}:sweepers-heard',
} as const;

/** What is sold, if Redis rules it. One hash tag, so that a script sees all of it at one moment. */
export const CATALOGUE_KEYS = {
  /** HASH: the id of the catalogue, the number and the digest of its last version. */
  head: 'gw:{c}:catalogue',
  /** HASH version -> when it holds and how it came to be. */
  notes: 'gw:{c}:catalogue-notes',
  /** HASH version -> its document as JSON. */
  documents: 'gw:{c}:catalogue-documents',
} as const;

/**
 * One hash tag, so that a script sees all of it at one moment. Buckets may have that tag too, so no
 * name is one of theirs.
 */
export const EVENT_KEYS = {
  /** STREAM of the last events of all buckets; the first part of an id counts them. */
  list: 'gw:{e}:limit-events',
  /** ZSET of the ids of these events and some before them, by their numbers. */
  known: 'gw:{e}:limit-events-known',
  /** Names the node that sends webhooks; only one does so at a time. */
  lease: 'gw:{e}:webhooks-lease',
  /** HASH: up to which event a webhook has received all, and the state of its delivery. */
  webhook: (name: string) => `gw:{e}:webhook:${name}`,
  /** ZSET of the later events that the webhook has received already. */
  told: (name: string) => `gw:{e}:webhook-told:${name}`,
} as const;

/** STREAM of what operators changed. */
export const AUDIT_KEY = 'gw:{a}:audit';

/** One hash tag, so that a script sees them at one moment. */
export const OPERATOR_KEYS = {
  /** HASH operator id -> record. */
  operators: 'gw:{o}:operators',
  /** HASH digest of a token -> operator id. */
  tokens: 'gw:{o}:tokens',
  /** HASH operator id -> when the token was revoked. */
  revoked: 'gw:{o}:revoked',
  /** HASH operator id -> about when the token was used last. */
  used: 'gw:{o}:used',
  /** HASH digest of a cookie -> session of the dashboard. */
  sessions: 'gw:{o}:sessions',
  /** HASH digest of a cookie -> sign-in that has begun. */
  signIns: 'gw:{o}:sign-ins',
} as const;

/** STRING: seals what models thought, on all nodes, unless the settings have secrets for that. */
export const REASONING_SECRET_KEY = 'gw:{r}:reasoning-secret';

/** Changes of keys and accounts are published here, to every worker of every node. */
export const CHANGES_CHANNEL = 'gw:changes';

/**
 * The Redis keys of one bucket. All data of an account, its keys and their requests are in one
 * bucket.
 */
export interface BucketKeys {
  readonly prefix: string;
  /**
   * Never written. A script that makes names of further keys declares this one. While the slot of
   * the bucket moves to another server of a Cluster, Redis then answers TRYAGAIN and does not run
   * the script where a part of the bucket is missing.
   */
  readonly whole: string;
  /** HASH request id -> hold. */
  readonly holds: string;
  /**
   * LIST of request ids in the order of admission, with ended ones until a sweep comes: see
   * `quota/scripts/lua/holds.lua`.
   */
  readonly leases: string;
  /** ZSET of the ids of renewed requests, by the end of their lease. */
  readonly renewals: string;
  /** STREAM of everything that ever changed a balance. */
  readonly ledger: string;
  /** HASH payment -> micros. */
  readonly payments: string;
  /**
   * STREAM of events of limits and balances, until they are taken out: see
   * `quota/scripts/lua/events.lua`.
   */
  readonly events: string;
  /** HASH: up to where the list has these events, and how many were lost. */
  readonly eventsTaken: string;
  /** STRING: exists while an event is not raised again. */
  told(event: string): string;
  /** HASH: how many events an account has raised in its hour, and when that hour began. */
  eventCountOf(accountId: string): string;
  /** SET of the ids of all accounts. */
  readonly accounts: string;
  /** HASH: the record of an account. */
  account(accountId: string): string;
  /** HASH: the record of a key. */
  key(keyId: string): string;
  /** HASH: the record of a group of keys of one account. */
  group(groupId: string): string;
  /** SET of the ids of an account's groups. */
  groupsOf(accountId: string): string;
  /** HASH: what an end user has used. The id is that of a key or a group, and a digest. */
  user(userId: string): string;
  /** ZSET of the end users of an account, by when they are forgotten. */
  usersOf(accountId: string): string;
  /** SET of the ids of an account's keys. */
  keysOf(accountId: string): string;
  /**
   * LIST of when the last requests of an account or a key were admitted, if its record has no room
   * for them.
   */
  accountLog(accountId: string): string;
  /** HASH: the answers that are kept for an account. */
  kept(accountId: string): string;
  /** LIST of their ids, the oldest first. */
  keptQueue(accountId: string): string;
  /** LIST of the ids of those that are kept with what was asked, the oldest first. */
  keptRests(accountId: string): string;
  /** HASH account id -> bytes of its answers. */
  readonly keptBytes: string;
  /** The bytes of the answers of all accounts. */
  readonly keptTotal: string;
  /** ZSET of the accounts that keep answers, by when the last one is over. */
  readonly keptEnds: string;
  /**
   * HASH request id -> what was charged, for all requests that began in the same minute: see
   * `quota/scripts/lua/money.lua`.
   */
  done(requestId: string): string;
}

export function bucketKeys(tag: string): BucketKeys {
  const prefix = `gw:{${tag}}:`;
  return {
    prefix,
    whole: `${prefix}whole`,
    holds: `${prefix}holds`,
    leases: `${prefix}leases`,
    renewals: `${prefix}renewals`,
    ledger: `${prefix}ledger`,
    payments: `${prefix}payments`,
    events: `${prefix}events`,
    eventsTaken: `${prefix}events-taken`,
    told: (event) => `${prefix}told:${event}`,
    eventCountOf: (accountId) => `${prefix}told-of:${accountId}`,
    accounts: `${prefix}accounts`,
    account: (accountId) => `${prefix}account:${accountId}`,
    key: (keyId) => `${prefix}key:${keyId}`,
    group: (groupId) => `${prefix}group:${groupId}`,
    groupsOf: (accountId) => `${prefix}groups:${accountId}`,
    user: (userId) => `${prefix}user:${userId}`,
    usersOf: (accountId) => `${prefix}users:${accountId}`,
    keysOf: (accountId) => `${prefix}keys:${accountId}`,
    accountLog: (accountId) => `${prefix}log:${accountId}`,
    kept: (accountId) => `${prefix}kept:${accountId}`,
    keptQueue: (accountId) => `${prefix}kept-queue:${accountId}`,
    keptRests: (accountId) => `${prefix}kept-rests:${accountId}`,
    keptBytes: `${prefix}kept-bytes`,
    keptTotal: `${prefix}kept-total`,
    keptEnds: `${prefix}kept-ends`,
    done: (requestId) => `${prefix}done:${minuteTextOf(requestId)}`,
  };
}
