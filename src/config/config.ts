import type { Model, Price } from '../catalogue/catalogue.ts';
import type { ArchivePlace, BooksPlace } from '../lib/address/books-target.ts';
import type { Endpoint } from '../lib/address/endpoint.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Role } from '../lib/role.ts';
import type { Secret } from '../lib/secret.ts';
import type { PlanLimits } from '../protocol/admission.ts';
import type { EndUserSource } from '../protocol/find-end-user.ts';
import type { UpstreamKind } from '../protocol/format-names.ts';
import type { OptionalFeature } from '../protocol/upstream-call.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

interface RouteConfig {
  readonly upstream: string;
  readonly weight: number;
  readonly priority: number;
}

export interface ModelConfig extends Model {
  readonly routes: readonly RouteConfig[];
}

interface SimulatedConfig {
  /** Equal seeds give equal answers. */
  readonly seed: number;
  readonly latencyMs: number;
  /** 0 means as fast as possible. */
  readonly tokensPerSecond: number;
  /** The share of requests that fail, from 0 to 1. */
  readonly errorRate: number;
}

/** How an upstream is probed. */
interface ProbeConfig {
  /** The path from the root of the upstream's host. */
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

interface UpstreamTlsConfig {
  /** The absolute path of a file with the authorities to trust instead of the usual ones. */
  readonly caFile: string | undefined;
  /** The name in the certificate, if it differs from the host. */
  readonly serverName: string | undefined;
}

/** All that a catalogue has to know of an upstream. */
export interface NamedUpstream {
  readonly name: string;
  readonly kind: UpstreamKind;
}

export interface UpstreamConfig {
  readonly name: string;
  readonly kind: UpstreamKind;
  /** Absent on simulated upstreams only. */
  readonly url: string | undefined;
  readonly apiKey: Secret | undefined;
  readonly modelNames: Readonly<Record<string, string>>;
  /** What the vendor asks for its models, by our ids. */
  readonly costs: Readonly<Record<string, Price>>;
  /**
   * For a chat upstream, by the id of the model, with `*` for all others. Without an entry, the
   * client's own field is sent.
   */
  readonly outputLimitFields: Readonly<Record<string, 'max_completion_tokens' | 'max_tokens'>>;
  /**
   * Which of the features that some upstreams lack this one accepts: by the id of the model, with
   * `*` for all others, which is always there.
   */
  readonly accepts: Readonly<Record<string, readonly OptionalFeature[]>>;
  /**
   * Whether translated requests say how the model is to sample: by the id of the model, with `*`
   * for all others. Without an entry they do.
   */
  readonly sampling: Readonly<Record<string, 'pass' | 'drop'>>;
  /** Headers sent with each request, by name in lower case. */
  readonly headers: Readonly<Record<string, Secret>>;
  readonly tls: UpstreamTlsConfig | undefined;
  /** Without a probe, only the requests of clients show the health of the upstream. */
  readonly probe: ProbeConfig | undefined;
  /** What happens to fields of requests that the gateway does not know. */
  readonly unknownFields: 'pass' | 'drop' | 'refuse';
  /** The maximum for this node. Its workers share it. */
  readonly concurrencyMax: number;
  readonly timeouts: {
    readonly connectMs: number;
    readonly firstByteMs: number;
    readonly idleMs: number;
    readonly totalMs: number;
  };
  /** Present on simulated upstreams only. */
  readonly simulated: SimulatedConfig | undefined;
}

/** How requests name the end users of a customer. */
interface EndUsersConfig {
  /** The first that has a name counts. */
  readonly sources: readonly EndUserSource[];
  /** Without it, whoever reads Redis may find out names by guessing. */
  readonly secret: Secret | undefined;
  readonly perAccountMax: number;
}

/** Limits for one worker that do not depend on a customer's plan. */
export interface GuardsConfig {
  /** The number of proxies in front that add an address to x-forwarded-for. */
  readonly trustedProxies: number;
  readonly failedKeysPerMinuteMax: number;
  readonly freeCallsPerMinuteMax: number;
  /** Requests per key while Redis is out. If absent, none is admitted then. */
  readonly insurancePerMinuteMax: number | undefined;
}

/** Where spans of requests are sent, and which share of requests is recorded. */
export interface TracingConfig {
  readonly endpoint: string;
  /** The share of requests that are recorded, from 0 to 1. */
  readonly sample: number;
  readonly headers: Readonly<Record<string, Secret>>;
}

/** How people sign in to the dashboard with accounts of an OpenID provider. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret: Secret | undefined;
  readonly redirectUrl: string;
  readonly roleClaim: string;
  /** Roles by the value of the claim. */
  readonly roles: Readonly<Record<string, Role>>;
  readonly scopes: string;
  readonly sessionMs: number;
  readonly sessionIdleMs: number;
}

/** How answers are kept for clients that refer to them. */
export interface KeepConfig {
  readonly ttlMs: number;
  readonly answerBytesMax: number;
  readonly accountBytesMax: number;
  /** The maximum for all accounts; each bucket has an equal share of it. */
  readonly totalBytesMax: number;
}

/** From when operators and customers are warned, before anything is refused. */
interface WarningsConfig {
  /** The share of a limit that blocks, or of a monthly cap, from which it warns. */
  readonly atShare: number;
  /** The balance below which one is low; 0 for none. */
  readonly lowBalanceMicros: number;
}

interface NetworkConfig {
  readonly address: string;
  readonly bits: number;
  readonly family: 4 | 6;
}

/** A receiver of events. */
interface WebhookConfig {
  readonly name: string;
  readonly url: string;
  /** Each signs, so that a receiver may know the old or the new one. */
  readonly secrets: readonly Secret[];
  readonly events: readonly string[];
}

export interface WebhooksConfig {
  /** No webhook goes to another host. */
  readonly hosts: readonly string[];
  /** Addresses that are not public, but that webhooks may go to. */
  readonly privateNetworks: readonly NetworkConfig[];
  readonly endpoints: readonly WebhookConfig[];
}

/** Who may use the admin API, and where. */
export interface OpsConfig {
  readonly listen: Endpoint;
  readonly adminToken: Secret | undefined;
  /** If absent, people sign in with tokens only. */
  readonly oidc: OidcConfig | undefined;
}

/** How entries of the ledger are kept. */
export interface BooksConfig {
  readonly place: BooksPlace;
  readonly connectionsMax: number;
  /** How long a day stays in the books before it goes into the archive. */
  readonly keepMs: number;
  /** If absent, every day stays in the books. */
  readonly archive: ArchivePlace | undefined;
  /** How many entries may wait for the books before requests are refused. */
  readonly waitingEntriesMax: number;
}

/** What is sold: the part of the settings that may be kept in Redis instead. */
export interface CatalogueConfig {
  /** By the name of the plan. */
  readonly plans: PlanLimits;
  readonly models: readonly ModelConfig[];
}

/** What is sold at a moment. */
export interface CurrentCatalogue extends CatalogueConfig {
  /** Undefined if the settings file rules. */
  readonly version: number | undefined;
}

/** The effective settings, frozen. Secrets are of type `Secret`, which does not print them. */
export interface Config extends CatalogueConfig {
  /** What rules models and plans. With `store`, those of the file are only the first version. */
  readonly catalogue: 'file' | 'store';
  readonly listen: Endpoint;
  readonly ops: OpsConfig;
  readonly workers: number;
  readonly redis: RedisTarget | 'embedded';
  readonly books: BooksConfig;
  /** An absolute path. */
  readonly dataDir: string;
  readonly logLevel: LogLevel;
  /** Which requests get a line in the log. `sample` is the share for `sampled`. */
  readonly requestLog: { readonly lines: 'errors' | 'sampled' | 'all'; readonly sample: number };
  /** If absent, nothing is recorded. */
  readonly tracing: TracingConfig | undefined;
  /** Whether browsers get the page for key owners. */
  readonly keyPage: boolean;
  /**
   * They seal a model's thoughts while clients keep them: the first seals, all open. Without any,
   * a secret in Redis does both.
   */
  readonly reasoningSecrets: readonly Secret[];
  /** Origins whose pages may use the API from a browser: exact origins, or `*`. */
  readonly cors: { readonly origins: readonly string[] };
  readonly upstreams: readonly UpstreamConfig[];
  readonly limits: {
    readonly bodyBytesMax: number;
    readonly bodyTimeMaxMs: number;
    readonly overCeiling: 'reject' | 'clamp';
    /** The span over which requests per minute are counted. */
    readonly rateWindowMs: number;
    /** The most tokens of an output that limits of tokens hold. If absent, all of them. */
    readonly outputHeldMax: number | undefined;
    readonly endUsers: EndUsersConfig;
  };
  /** Undefined if nothing is kept. */
  readonly keptAnswers: KeepConfig | undefined;
  readonly warnings: WarningsConfig;
  readonly webhooks: WebhooksConfig;
  /**
   * Whether an answer is still read after its client has left, and for how long. With `stop`, the
   * time means nothing.
   */
  readonly onLeave: { readonly action: 'drain' | 'stop'; readonly timeoutMs: number };
  /**
   * Uncounted tokens are estimated: those of text from its bytes, those of files by their maximum.
   */
  readonly estimate: {
    readonly bytesPerToken: number;
    /**
     * The most tokens that a file may have. `window` means as many as the model reads, and 0 that
     * such files are refused.
     */
    readonly imageTokens: number;
    readonly imageUrlTokens: number;
    readonly pdfTokens: number | 'window';
    readonly documentUrlTokens: number | 'window';
    readonly fileTokens: number | 'window';
  };
  readonly guards: GuardsConfig;
  readonly drain: { readonly timeoutMs: number };
  /** Hashes of native builds of uWebSockets.js that may be loaded beside the known ones. */
  readonly uwsSha256: readonly string[];
}
