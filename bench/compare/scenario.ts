/** A client's format; peers and Tollgate have a path for each. */
export type ApiFormat = 'native' | 'chat';

/** How the upstream of a stage answers every request, in both formats. */
export interface UpstreamAnswer {
  readonly latencyMs: number;
  /** 0: no stream, but one answer of some 500 bytes. */
  readonly events: number;
  /** Between two events; 0: all in one write. */
  readonly gapMs: number;
}

/** Where a contestant finds its upstream, and a folder of its own. */
export interface Place {
  readonly dir: string;
  readonly upstreamPort: number;
}

/** What a client has to send to this contestant. */
export interface Route {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

export interface Running {
  readonly port: number;
  /** Undefined when it does not serve the format. */
  routeOf(format: ApiFormat): Route | undefined;
  /** The processes whose CPU time is its cost: all that a request goes through. */
  pids(): readonly number[];
  /** Processes whose cost is told beside it, such as a primary or a store. */
  readonly sidePids: Readonly<Record<string, readonly number[]>>;
  /** A file of keys, one a line, that requests take in turn instead of the one of the route. */
  readonly keysFile?: string | undefined;
  stop(): Promise<void>;
}

export interface Contestant {
  readonly name: string;
  /** It, or what it needs, is installed in `bench/peers`. */
  readonly isPeer: boolean;
  /** Is as fast at its first request as ever: its code is compiled before it runs. */
  readonly isCompiled?: true;
  start(place: Place): Promise<Running>;
}

/** What a generator is told to do. */
export type Drive =
  | {
      readonly kind: 'closed-loop';
      readonly generator: 'wrk' | 'autocannon';
      readonly connections: number;
    }
  | {
      readonly kind: 'open-streams';
      readonly streams: number;
      readonly opensPerSecond: number;
    }
  | {
      readonly kind: 'fixed-rate';
      readonly ratePerSecond: number;
      readonly connectionsMax: number;
    };

/** A share of what the slowest contestant of the case reaches is known when all have been measured once. */
export type Load =
  | Exclude<Drive, { readonly kind: 'fixed-rate' }>
  | {
      readonly kind: 'share-of-slowest';
      readonly share: number;
      readonly connectionsMax: number;
    };

export interface Case {
  readonly name: string;
  readonly format: ApiFormat;
  readonly bodyBytes: number;
  readonly status: number;
  readonly load: Load;
}

/** Cases that share the running contestants and their upstream. */
export interface Stage {
  readonly answer: UpstreamAnswer;
  readonly contestants: readonly Contestant[];
  readonly cases: readonly Case[];
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** A sentence or two for the head of the report. */
  readonly shows: string;
  /** What one unit of the figures is. */
  readonly unit: 'request' | 'event';
  readonly seconds: number;
  /** Before the first case of a stage. */
  readonly warmUpSeconds: number;
  readonly rounds: number;
  /** Whether the report says by how much everybody is later than the bare proxy. */
  readonly comparesLatency?: true;
  readonly stages: readonly Stage[];
}

/** What a generator has counted. */
export interface Outcome {
  readonly generator: string;
  readonly units: number;
  /** Without what the generator takes to start. */
  readonly seconds: number;
  /** Answers with another status than the expected one, and those that did not come. */
  readonly failures: number;
  readonly latencyMs: Readonly<Record<string, number>>;
  readonly details: Readonly<Record<string, number>>;
}

/** Between these two calls the CPU time of everybody is taken. */
export interface Meter {
  begin(): void;
  end(): void;
}

export const WHOLE_ANSWER: UpstreamAnswer = { latencyMs: 0, events: 0, gapMs: 0 };
