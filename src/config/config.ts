import type { Endpoint } from '../lib/address/endpoint.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Secret } from '../lib/secret.ts';
import type { UpstreamKind } from '../protocol/format-names.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type PlanName = 'starter' | 'pro' | 'business' | 'team';

/** Credits per million tokens. */
export interface PriceConfig {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  /** For a thousand searches; absent, the model does not search. */
  readonly webSearch: number | undefined;
}

export interface RouteConfig {
  readonly upstream: string;
  readonly weight: number;
  readonly priority: number;
}

export interface ModelConfig {
  readonly id: string;
  readonly aliases: readonly string[];
  /** With `*` for any run of characters. */
  readonly aliasPatterns: readonly string[];
  readonly contextTokensMax: number;
  readonly betaContextTokensMax: number | undefined;
  readonly outputTokensMax: number;
  readonly price: PriceConfig;
  readonly routes: readonly RouteConfig[];
}

export interface SimulatedConfig {
  /** Equal seeds give equal answers. */
  readonly seed: number;
  readonly latencyMs: number;
  /** 0 is as fast as possible. */
  readonly tokensPerSecond: number;
  /** The share of requests that fail, from 0 to 1. */
  readonly errorRate: number;
}

/** How an upstream is asked whether it is there. */
export interface ProbeConfig {
  /** From the root of its host. */
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

export interface UpstreamTlsConfig {
  /** An absolute path: the authorities to trust instead of the usual ones. */
  readonly caFile: string | undefined;
  /** The name in the certificate, where it is not that of the host. */
  readonly serverName: string | undefined;
}

export interface UpstreamConfig {
  readonly name: string;
  readonly kind: UpstreamKind;
  /** Absent on a simulated upstream only. */
  readonly url: string | undefined;
  readonly apiKey: Secret | undefined;
  readonly modelNames: Readonly<Record<string, string>>;
  /** Of a chat upstream, by the id of the model, `*` for all others; absent, the client's own. */
  readonly outputLimitFields: Readonly<Record<string, 'max_completion_tokens' | 'max_tokens'>>;
  /** What not every upstream takes. */
  readonly accepts: readonly ('pdf' | 'effort' | 'reasoning_content')[];
  /** By name in lower case; sent with each request. */
  readonly headers: Readonly<Record<string, Secret>>;
  readonly tls: UpstreamTlsConfig | undefined;
  /** Absent: only the requests of clients tell how it is. */
  readonly probe: ProbeConfig | undefined;
  /** What becomes of fields of requests that nobody here knows. */
  readonly unknownFields: 'pass' | 'drop' | 'refuse';
  /** Of this node; its workers share it. */
  readonly concurrencyMax: number;
  readonly timeouts: {
    readonly connectMs: number;
    readonly firstByteMs: number;
    readonly idleMs: number;
    readonly totalMs: number;
  };
  /** Present on a simulated upstream only. */
  readonly simulated: SimulatedConfig | undefined;
}

/** What one worker bears of that which is no customer's plan. */
export interface GuardsConfig {
  /** How many proxies in front add an address to x-forwarded-for. */
  readonly trustedProxies: number;
  readonly failedKeysPerMinuteMax: number;
  readonly freeCallsPerMinuteMax: number;
  /** Per key, while Redis is out; absent, nothing is admitted then. */
  readonly insurancePerMinuteMax: number | undefined;
}

/** Spans of requests, and where they are sent. */
export interface TracingConfig {
  readonly endpoint: string;
  /** The share of requests that are recorded, from 0 to 1. */
  readonly sample: number;
  readonly headers: Readonly<Record<string, Secret>>;
}

/** The effective settings, frozen. Secrets are `Secret`s: they do not print. */
export interface Config {
  readonly listen: Endpoint;
  readonly ops: { readonly listen: Endpoint; readonly adminToken: Secret | undefined };
  readonly workers: number;
  readonly redis: RedisTarget | 'embedded';
  /** An absolute path. */
  readonly dataDir: string;
  readonly logLevel: LogLevel;
  /** Which requests have a line in the log; the share is for `sampled`. */
  readonly requestLog: { readonly lines: 'errors' | 'sampled' | 'all'; readonly sample: number };
  /** Absent, nothing is recorded. */
  readonly tracing: TracingConfig | undefined;
  /** Whether browsers get the page for key owners. */
  readonly keyPage: boolean;
  /** Whose pages may use the API from a browser: exact origins, or `*`. */
  readonly cors: { readonly origins: readonly string[] };
  /** Requests per minute, per account. */
  readonly plans: Readonly<Record<PlanName, number>>;
  readonly models: readonly ModelConfig[];
  readonly upstreams: readonly UpstreamConfig[];
  readonly limits: {
    readonly bodyBytesMax: number;
    readonly bodyTimeMaxMs: number;
    readonly overCeiling: 'reject' | 'clamp';
    /** Over which requests per minute are counted. */
    readonly rateWindowMs: number;
  };
  /** How long an answer may be read on whose client has left; `undefined` where it is stopped at once. */
  readonly onLeave: { readonly drainTimeoutMs: number | undefined };
  /** Text is taken for tokens by its bytes where nobody has counted them, files by what they cost at most. */
  readonly estimate: {
    readonly bytesPerToken: number;
    /** Files have so many tokens at most, or as many as the model reads; with 0 they are refused. */
    readonly imageTokens: number;
    readonly imageUrlTokens: number;
    readonly pdfTokens: number | 'window';
    readonly documentUrlTokens: number | 'window';
    readonly fileTokens: number | 'window';
  };
  readonly guards: GuardsConfig;
  readonly drain: { readonly timeoutMs: number };
  /** Further native builds of uWebSockets.js that may be loaded, beside the known ones. */
  readonly uwsSha256: readonly string[];
}
