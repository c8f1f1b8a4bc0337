/** A model as it is configured. */
export interface ModelState {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly aliasPatterns: readonly string[];
  readonly contextTokensMax: number;
  readonly betaContextTokensMax: number | undefined;
  readonly outputTokensMax: number;
  readonly isEmbedding: boolean;
  /** Credits per million tokens. */
  readonly price: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite5m: number;
    readonly cacheWrite1h: number;
    readonly webSearch?: number | undefined;
  };
  readonly routes: readonly {
    readonly upstream: string;
    readonly weight: number;
    readonly priority: number;
  }[];
}
