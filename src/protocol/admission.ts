import type { Usage } from './inference.ts';
import type { RateState } from './rate-state.ts';
import type { Refusal } from './refusals.ts';
import type { RequestDetails } from './request-details.ts';

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

/** Who asks. */
export interface Caller {
  header(name: string): string | undefined;
  /** Of a header that is a list, and that may stand in several lines. */
  joinedHeader(name: string): string | undefined;
  /** Of the connection, which behind a proxy is the proxy's. */
  readonly peerAddress: string;
}

/** A key that may exist: its text is right, but nobody has asked the store yet. */
export interface ApiKey {
  readonly keyId: string;
  readonly bucket: number;
  readonly digest: string;
  /** What may be shown of it. */
  readonly masked: string;
  /** Of a key that was good a moment ago, as it was first seen. */
  readonly origin: KeyOrigin;
  /** The address of a client whose key this worker has not seen let through lately. */
  readonly strangerAddress: string | undefined;
}

export interface AdmissionOrder {
  readonly key: ApiKey;
  readonly requestId: string;
  /** The pinned id, then its aliases. */
  readonly modelNames: readonly string[];
  readonly holdMicros: number;
  /** Where less than `holdMicros` is free, this much still admits, with all that is free held. */
  readonly holdLeastMicros: number;
  /** What the request has cost so far; asked now and then until it is settled. */
  seenMicros(): number;
  /** Called as soon as it is known, whether the request is admitted or not. */
  tellRate(rate: RateState): void;
  /** The key was revoked, or its account suspended, while the request runs. */
  stop(refusal: Refusal): void;
}

/** What a request costs. */
export interface Bill {
  readonly usage: Usage;
  readonly chargeMicros: number;
  /** Some of the usage is computed from what was delivered, since no upstream told it. */
  readonly isEstimated: boolean;
  /** An upstream told more than can be; what is more than that is not charged. */
  readonly isImplausible: boolean;
}

/** A request that is let in. It is settled once, on every way out. */
export interface Admission {
  readonly heldMicros: number;
  settle(bill: Bill, details: RequestDetails): void;
}
