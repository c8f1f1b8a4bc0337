import type { FormatName } from '../../src/protocol/format-names.ts';

/** The format of a client. */
export type ApiFormat = FormatName;

/** How the upstream of a stage answers every request, in all formats. */
export interface UpstreamAnswer {
  readonly latencyMs: number;
  /** 0 stands for one answer of about 500 bytes instead of a stream. */
  readonly events: number;
  /** The gap between two events. 0 sends all events in one write. */
  readonly gapMs: number;
}

/** Where a contestant finds its upstream, and a folder for its own files. */
export interface Place {
  readonly dir: string;
  readonly upstreamPort: number;
}

/** What a client must send to this contestant. */
export interface Route {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

export interface Running {
  readonly port: number;
  /** Undefined if the contestant does not serve the format. */
  routeOf(format: ApiFormat): Route | undefined;
  /** The processes whose CPU time is the contestant's cost: all that a request passes through. */
  pids(): readonly number[];
  /** Processes whose cost is listed separately, such as a primary or a store. */
  readonly sidePids: Readonly<Record<string, readonly number[]>>;
  /**
   * A file with one key per line. Requests use these keys in turn instead of the key of the route.
   */
  readonly keysFile?: string | undefined;
  stop(): Promise<void>;
}

export interface Contestant {
  readonly name: string;
  /** The contestant, or something it needs, is installed in `bench/peers`. */
  readonly isPeer: boolean;
  /** Its first request is as fast as any other, because its code is compiled before it runs. */
  readonly isCompiled?: true;
  start(place: Place): Promise<Running>;
}

/** The task of a generator. */
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

/**
 * A share of what the slowest contestant of the case reaches, known once all have been measured.
 */
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
  /** Whether clients of the Responses format let their answers be kept. */
  readonly isKept?: boolean;
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
  /** Runs before the first case of a stage. */
  readonly warmUpSeconds: number;
  readonly rounds: number;
  /** Whether the report says how much latency each contestant adds to that of the bare proxy. */
  readonly comparesLatency?: true;
  readonly stages: readonly Stage[];
}

/** What a generator has counted. */
export interface Outcome {
  readonly generator: string;
  readonly units: number;
  /** Without the start-up time of the generator. */
  readonly seconds: number;
  /** Answers with another status than the expected one, and missing answers. */
  readonly failures: number;
  readonly latencyMs: Readonly<Record<string, number>>;
  readonly details: Readonly<Record<string, number>>;
}

/** The CPU time of all processes is measured between these two calls. */
export interface Meter {
  begin(): void;
  end(): void;
}

export const WHOLE_ANSWER: UpstreamAnswer = { latencyMs: 0, events: 0, gapMs: 0 };
