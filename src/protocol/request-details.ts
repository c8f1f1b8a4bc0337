import type { FormatName } from './format-names.ts';
import type { Try } from './inference.ts';
import type { RefusalName } from './refusals.ts';

/** What is kept of one request beside what it cost: nothing of what was said. */
export interface RequestDetails {
  readonly format: FormatName;
  readonly isStream: boolean;
  readonly maskedKey: string;
  readonly bodyBytes: number;
  /** Of the input, before anybody has counted it. */
  readonly estimatedTokens: number;
  /** What the client asked for, or else the model's ceiling. */
  readonly outputTokensMax: number;
  /** Of the settings that served it. */
  readonly configVersion: string;
  /** Credits per million tokens, as they were when it was admitted. */
  readonly price: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite5m: number;
    readonly cacheWrite1h: number;
    /** For a thousand searches. */
    readonly webSearch?: number | undefined;
  };
  readonly tries: readonly Try[];
  readonly outcome: 'complete' | 'failed' | 'undelivered' | 'left' | 'refused';
  /** That went out; undefined when the client left before. */
  readonly status: number | undefined;
  /** Also of what ended a stream that had begun. */
  readonly refusal: RefusalName | undefined;
  /** By the clock of the machine that served it. */
  readonly startedMs: number;
  /** From its start until then, in whole milliseconds, like all that follow. */
  readonly bodyMs: number;
  readonly admittedMs: number;
  /** The upstream had begun to answer; undefined when it never did. */
  readonly firstEventMs: number | undefined;
  readonly totalMs: number;
  readonly upstreamWaitMs: number;
  readonly clientWaitMs: number;
  /** The upstream told more than the answer can have cost: what is kept is what was charged. */
  readonly isUsageImplausible: boolean;
}
