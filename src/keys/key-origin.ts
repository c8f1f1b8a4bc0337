/** Where a key comes from. */
export interface KeyOrigin {
  /** That of the client, as far as it can be known. */
  readonly address: string;
  /** Of this machine or a private network: nobody on the internet has it. */
  readonly isLocal: boolean;
  /** Whom the request came from before that, by its own word; of the network behind a client's own proxy nobody. */
  readonly claimed: string | undefined;
  /** From a public address, past a proxy that is trusted. */
  readonly cameDirectly: boolean;
}
