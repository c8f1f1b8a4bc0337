import type { Catalogue } from '../catalogue/catalogue.ts';
import type { FileBounds } from '../catalogue/count-files.ts';
import type { StopSignal } from '../lib/time/stop-signal.ts';
import type { Admission, AdmissionOrder, ApiKey, Caller } from '../protocol/admission.ts';
import type { Format } from '../protocol/format.ts';
import type { Infer } from '../protocol/inference.ts';
import type { KeyInfo } from '../protocol/key-info.ts';
import type { Refusal } from '../protocol/refusals.ts';
import type { Trace } from '../protocol/trace-context.ts';
import type { AnswerDrains } from './answer-drains.ts';
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
