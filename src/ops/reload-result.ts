/** What came of a reload. */
export type ReloadResult =
  | { readonly kind: 'reloaded'; readonly configVersion: string }
  /** It takes longer than anybody waits for its answer. */
  | { readonly kind: 'running'; readonly configVersion: string }
  /** Nothing was changed. */
  | {
      readonly kind: 'refused';
      readonly problems: readonly string[];
      readonly needsRestart: readonly string[];
    }
  /** A worker did not start with the new settings; the old ones hold. */
  | { readonly kind: 'failed'; readonly problems: readonly string[] }
  /** Too many wait for theirs, or the node has not started yet. */
  | { readonly kind: 'busy' };
