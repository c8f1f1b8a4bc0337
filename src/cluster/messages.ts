import type { ConfigSource } from '../config/read-config-source.ts';
import type { Activity } from '../ops/activity.ts';

/** How long a worker may go on for what is open, and for what may still come on open connections. */
export interface DrainOrder {
  readonly timeoutMs: number;
  /**
   * After the last answer an idle connection may be about to carry one more request. The worker ends only
   * when it has been quiet for so long.
   */
  readonly lingerMs: number;
}

export interface StartOrder {
  /** The slot, from 1. It outlives the worker: a replacement has the same. */
  readonly worker: number;
  /** What the settings are made of: the worker reads the very text that the primary has checked. */
  readonly source: ConfigSource;
  /** How many times the node has taken settings, with these: the second half of their version. */
  readonly configCount: number;
  /** The socket of the store that the primary runs itself. */
  readonly embeddedRedisPath: string | undefined;
}

export type MessageToWorker =
  | { readonly type: 'start'; readonly order: StartOrder }
  | { readonly type: 'drain'; readonly order: DrainOrder }
  /** What was handed over under this number is on the disk. */
  | { readonly type: 'journalled'; readonly id: number };

export type MessageToPrimary =
  | { readonly type: 'ready' }
  | { readonly type: 'listening' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'activity'; readonly activity: Activity }
  /** Settlements that the store has not taken; from the answer on they are the primary's. */
  | { readonly type: 'journal'; readonly id: number; readonly settlements: readonly Buffer[] };
