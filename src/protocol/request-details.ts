import type { RouteName } from './format-names.ts';
import type { RefusalName } from './refusals.ts';
import type { Try } from './try.ts';

/** What is kept about one request beside its cost. Nothing of its content is kept. */
export interface RequestDetails {
  readonly format: RouteName;
  readonly isStream: boolean;
  readonly maskedKey: string;
  readonly bodyBytes: number;
  /** The input tokens as estimated, before an upstream counted them. */
  readonly estimatedTokens: number;
  /** What the client asked for, or the model's ceiling. */
  readonly outputTokensMax: number;
  /** The version of the settings that served the request. */
  readonly configVersion: string;
  /**
   * The version of the catalogue that priced and limited the request. Undefined if the settings
   * file ruled.
   */
  readonly catalogueVersion: number | undefined;
  /** Credits per million tokens, as they were at admission. */
  readonly price: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite5m: number;
    readonly cacheWrite1h: number;
    /** Credits per thousand searches. */
    readonly webSearch?: number | undefined;
  };
  readonly tries: readonly Try[];
  readonly outcome: 'complete' | 'failed' | 'undelivered' | 'left' | 'refused';
  /** The status that was sent; undefined if the client left before that. */
  readonly status: number | undefined;
  /** Also set if a refusal ended a stream that had begun. */
  readonly refusal: RefusalName | undefined;
  /** By the clock of the machine that served the request. */
  readonly startedMs: number;
  /** Whole milliseconds since the start, like all times below. */
  readonly bodyMs: number;
  readonly admittedMs: number;
  /** When the upstream began to answer; undefined if it never did. */
  readonly firstEventMs: number | undefined;
  readonly totalMs: number;
  readonly upstreamWaitMs: number;
  readonly clientWaitMs: number;
  /** Whether the upstream reported more usage than is possible. What is kept is what is charged. */
  readonly isUsageImplausible: boolean;
}
