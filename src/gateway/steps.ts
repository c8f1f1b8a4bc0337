import type { FileBounds } from '../catalogue/count-files.ts';
import type { Catalogue } from '../catalogue/resolve-model.ts';
import type { KeyOrigin } from '../keys/key-origin.ts';
import type { StopSignal } from '../lib/time/stop-signal.ts';
import type { Format } from '../protocol/format.ts';
import type { Infer } from '../protocol/inference.ts';
import type { KeyInfo } from '../protocol/key-info.ts';
import type { RateState } from '../protocol/rate-state.ts';
import type { Refusal } from '../protocol/refusals.ts';
import type { RequestDetails } from '../protocol/request-details.ts';
import type { Trace } from '../protocol/trace-context.ts';
import type { AnswerDrains } from './answer-drains.ts';
import type { Bill } from './meter-usage.ts';
import type { RequestRecord } from './request-record.ts';
import type { TokenRatio } from './token-ratios.ts';

/** What the spine needs from outside. A step throws a `Refusal` when it says no. */
export interface Steps {
  /** The trace that a request is part of, if any. */
  startTrace(caller: Caller): Trace | undefined;
  /** Reads the key and checks all that can be checked without the store. */
  checkKey(caller: Caller): ApiKey;
  readonly catalogue: Catalogue;
  /** Names the settings that hold. */
  readonly configVersion: string;
  /** For text that nobody has counted, and for what is no text. */
  readonly estimate: FileBounds & { readonly bytesPerToken: number };
  /** For answers of a model that nobody has counted. */
  ratioOf(model: string): TokenRatio;
  /** What becomes of a `max_tokens` above the model's ceiling. */
  readonly overCeiling: 'reject' | 'clamp';
  /** Checks everything else in one round trip, and holds what the request may cost. */
  admit(order: AdmissionOrder): Promise<Admission>;
  /** For requests that cost nothing: whether the key is good, and which models it may use (undefined: all). */
  identify(key: ApiKey): Promise<{ readonly models: readonly string[] | undefined }>;
  /** The same door, and then what the key is told of itself. */
  describeKey(key: ApiKey): Promise<KeyInfo>;
  readonly infer: Infer;
  readonly drains: AnswerDrains;
  /** In which some upstream reads requests: those go on as they came, and their long texts need not be read. */
  readonly upstreamFormats: ReadonlySet<Format['name']>;
  /** Once for each request, when it has ended, however it ended. */
  observe(record: RequestRecord): void;
  /** Milliseconds since the epoch. */
  nowMs(): number;
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

/** A request that is let in. It is settled once, on every way out. */
export interface Admission {
  readonly heldMicros: number;
  settle(bill: Bill, details: RequestDetails): void;
}

/** A stream of bytes to the client. */
export interface ClientStream {
  readonly isFinished: boolean;
  /** A promise when the client is slower than its upstream. */
  write(chunk: string | Uint8Array): Promise<void> | undefined;
  endStream(): void;
}

interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The client's end of one exchange. */
export interface ClientSide extends Caller {
  readonly requestId: string;
  readonly signal: StopSignal;
  /** While it arrives it counts against the address of a stranger, if it is one's. */
  body(stranger: string | undefined): Promise<Uint8Array>;
  /** Go out with whatever is answered, a refusal included. */
  addHeaders(headers: Readonly<Record<string, string>>): void;
  answer(head: AnswerHead, body: string | Uint8Array): void;
  startStream(head: AnswerHead): ClientStream;
  /** Aborts the signal: the upstream stops with this refusal, which the client then gets. */
  abort(refusal: Refusal): void;
}
