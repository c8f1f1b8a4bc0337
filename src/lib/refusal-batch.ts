/** How many requests were refused alike within a minute. */
export interface RefusalSeries {
  /** UTC, in minutes since the epoch. */
  readonly minute: number;
  /**
   * Empty if the key is missing or may not exist: anyone can write an id. A key belongs to one
   * account for good, so the books know the account.
   */
  readonly keyId: string;
  /** The pinned id. Empty if the request was refused before a model was found. */
  readonly model: string;
  readonly refusal: string;
  readonly count: number;
}

/** One of the refused requests. */
export interface RefusedRequest extends Omit<RefusalSeries, 'minute' | 'count'> {
  readonly requestId: string;
  /** When it was refused, in milliseconds since the epoch. */
  readonly refusedMs: number;
  readonly status: number;
  /** The route of the request, such as `native`, `responses` or `embeddings`. */
  readonly format: string;
  readonly isStream: boolean;
  readonly durationMs: number;
}

/** What a worker has refused without an admission since its last batch. */
export interface RefusalBatch {
  /** All refusals. */
  readonly counts: readonly RefusalSeries[];
  /** Some of the refused requests. */
  readonly samples: readonly RefusedRequest[];
}
