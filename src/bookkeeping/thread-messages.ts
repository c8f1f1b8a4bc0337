import type { BooksFacts } from '../books/questions/read-facts.ts';
import type { createFindCost } from '../catalogue/find-cost.ts';
import type { LogLevel } from '../config/config.ts';
import type { BooksTarget } from '../lib/address/books-target.ts';
import type { PackedSecrets } from '../lib/pack-secrets.ts';
import type { RefusalBatch } from '../lib/refusal-batch.ts';

/** What a thread of the primary starts with. */
export interface ThreadOrder {
  /** A `RedisTarget`. */
  readonly redis: PackedSecrets;
  readonly books: BooksTarget;
  readonly nodeId: string;
  readonly logLevel: LogLevel;
}

/** To the thread that answers. Each question has an id of its own. */
export type MessageToAnswerer =
  | { readonly type: 'ask'; readonly id: number; readonly name: string; readonly query: unknown }
  /** The next part of a streamed answer is wanted. */
  | { readonly type: 'more'; readonly id: number }
  /** Nobody waits for the answer any more. */
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'stop' };

export type MessageFromAnswerer =
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly type: 'part'; readonly id: number; readonly text: string }
  | { readonly type: 'end'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly failure: QuestionFailure };

/** An error as it crosses threads. `code` is undefined for a fault of ours. */
export interface QuestionFailure {
  readonly code: string | undefined;
  readonly message: string;
}

/** What the vendors charge, by upstream. */
export type UpstreamCosts = Parameters<typeof createFindCost>[0];

export interface IngestOrder extends ThreadOrder {
  /** The id of the node, a space, and something that no other process has. */
  readonly run: string;
  readonly costs: UpstreamCosts;
  /** Undefined where the archiver deletes old counts of refusals. */
  readonly refusalsKeptMs: number | undefined;
}

export type MessageToIngester =
  | { readonly type: 'costs'; readonly costs: UpstreamCosts }
  /** New entries may now have ids below those that were read last. */
  | { readonly type: 'master_change' }
  | { readonly type: 'refusals'; readonly batch: RefusalBatch }
  | { readonly type: 'stop' };

/** Sent once a second. */
export interface MessageFromIngester {
  readonly type: 'state';
  readonly state: IngestReport;
}

export interface IngestReport {
  readonly isIngesting: boolean;
  /** How far the books are behind, whichever node fills them; undefined before that is known. */
  readonly lagMs: number | undefined;
  /** In all streams, of all nodes. */
  readonly waitingEntries: number | undefined;
  readonly failure: string | undefined;
  readonly facts: BooksFacts | undefined;
}
