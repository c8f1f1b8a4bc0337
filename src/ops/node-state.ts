/** A node as its primary knows it. */
export interface NodeState {
  readonly node: {
    readonly id: string;
    readonly version: string;
    readonly startedMs: number;
    readonly configPath: string | undefined;
    /** See `config/config-version.ts`. */
    readonly configVersion: string;
  };
  readonly workers: readonly {
    readonly worker: number;
    readonly pid: number;
    readonly state: string;
    readonly startedMs: number;
  }[];
  readonly upstreams: readonly UpstreamStatus[];
  readonly redis: {
    /** The worst state that any worker reports, or `unknown` until a worker has reported. */
    readonly state: 'up' | 'out' | 'unknown';
    readonly isEmbedded: boolean;
    readonly topology: string;
    readonly outForMs: number;
  };
}

export interface UpstreamStatus {
  readonly name: string;
  readonly kind: string;
  /** The address without credentials. */
  readonly url: string | undefined;
  readonly models: readonly string[];
  /** The worst state that any worker reports, or `unknown` until a worker has reported. */
  readonly state: string;
  /** Undefined if no probe is configured. */
  readonly probe:
    | { readonly path: string; readonly state: string; readonly lastResult: string | undefined }
    | undefined;
  readonly workers: readonly {
    readonly worker: number;
    readonly pid: number;
    readonly state: string;
    readonly inFlight: number;
    readonly concurrencyMax: number;
    readonly restMs: number;
  }[];
  /** The tries of all workers since the node's start, including workers that have ended. */
  readonly tries: Readonly<Record<string, number>>;
}
