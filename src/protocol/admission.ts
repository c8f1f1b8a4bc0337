import type { Usage } from './inference.ts';
import type { LimitState } from './rates/limit-state.ts';
import type { RateState } from './rates/rate-state.ts';
import type { Refusal } from './refusals.ts';
import type { RequestDetails } from './request-details.ts';

/** Where a request with a key comes from. */
export interface KeyOrigin {
  /** The address of the client, as far as it is known. */
  readonly address: string;
  /**
   * Whether the address is of this machine or a private network. Nobody on the internet has such an
   * address.
   */
  readonly isLocal: boolean;
  /**
   * The address before that, as the client itself claims; a claimed private address counts only if
   * the client is local.
   */
  readonly claimed: string | undefined;
  /** Whether the request comes from a public address and bypasses the trusted proxies. */
  readonly cameDirectly: boolean;
}

/** The client that sends a request. */
export interface Caller {
  /** Joins the lines of a header that is a list; of any other, the first line counts. */
  header(name: string): string | undefined;
  /** The address of the connection; behind a proxy, that of the proxy. */
  readonly peerAddress: string;
}

/** A key that may exist: its text is well formed, but the store has not been asked yet. */
export interface ApiKey {
  readonly keyId: string;
  readonly bucket: number;
  readonly digest: string;
  /** The part of the key that may be shown. */
  readonly masked: string;
  /** Where the key comes from. A key that was good a moment ago keeps its first origin. */
  readonly origin: KeyOrigin;
  /** Whether the store has said lately that the key is good. */
  readonly isProven: boolean;
  /** Whose key it is, if the store has said so lately. */
  readonly accountId: string | undefined;
}

export type OwnedKey = ApiKey & { readonly accountId: string };

/** What an account may do, with all of its keys together. */
interface PlanTerms {
  /** How many requests in the window of the settings. */
  readonly requests: number;
  /** Further limits, as the scripts read them. */
  readonly list: string;
}

/** By the name of the plan; a plain number is its `requests`. */
export type PlanLimits = Readonly<Record<string, number | PlanTerms>>;

/** What a request may need of limits of tokens. */
export interface TokenDemand {
  readonly input: number;
  /** This many are held. */
  readonly output: number;
  /** With less room the request is refused. */
  readonly outputLeast: number;
  /** Whether the output may become longer than what is held. */
  readonly isOutputOpen: boolean;
}

export interface AdmissionOrder {
  readonly key: ApiKey;
  /** The limits of the version that also prices the request. */
  readonly plans: PlanLimits;
  readonly requestId: string;
  /** The pinned id first, then the aliases. */
  readonly modelNames: readonly string[];
  readonly holdMicros: number;
  /**
   * If less than `holdMicros` is free, this much is enough to admit the request; then everything
   * free is held.
   */
  readonly holdLeastMicros: number;
  readonly tokens: TokenDemand;
  /** The name of the end user; empty if the request has none. */
  readonly endUser: string;
  /** Returns what the request has cost so far. Called now and then until the request is settled. */
  seenMicros(): number;
  /**
   * Called as soon as the rate is known, whether or not the request is admitted. If it is,
   * `creditsMicros` is what the key could spend before it.
   */
  sendRate(rate: RateState, limits: readonly LimitState[], creditsMicros?: number): void;
  /** Called if the key is revoked or its account suspended while the request runs. */
  stop(refusal: Refusal): void;
}

/** What a request costs. */
export interface Bill {
  readonly usage: Usage;
  readonly chargeMicros: number;
  /** Whether some of the usage is computed from what was delivered, as no upstream reported it. */
  readonly isEstimated: boolean;
  /** Whether an upstream reported a usage above what is possible. The excess is not charged. */
  readonly isImplausible: boolean;
}

/** An admitted request. Every way out of it settles it exactly once. */
export interface Admission {
  readonly accountId: string;
  readonly heldMicros: number;
  /** The longest output that limits of tokens leave room for. */
  readonly outputTokensRoom: number;
  settle(bill: Bill, details: RequestDetails): void;
}
