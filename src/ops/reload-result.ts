/** The result of a reload. */
export type ReloadResult =
  | { readonly kind: 'reloaded'; readonly configVersion: string }
  /** The reload takes longer than a caller waits for it. */
  | { readonly kind: 'running'; readonly configVersion: string }
  /** The settings cannot be used. Nothing was changed. */
  | {
      readonly kind: 'refused';
      readonly problems: readonly string[];
      readonly needsRestart: readonly string[];
    }
  /** A worker did not start with the new settings. The previous ones stay in use. */
  | { readonly kind: 'failed'; readonly problems: readonly string[] }
  /** Too many callers wait for a reload, or the node has not started yet. */
  | { readonly kind: 'busy' };
