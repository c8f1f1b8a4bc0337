/** Where a key comes from. */
export interface KeyOrigin {
  /** That of the client, as far as it can be known. */
  readonly address: string;
  /** Whom the request came from before that, by its own word. */
  readonly claimed: string | undefined;
  /** From a public address, past a proxy that is trusted. */
  readonly cameDirectly: boolean;
}
