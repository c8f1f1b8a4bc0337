import type { FileBounds } from '../catalogue/count-files.ts';
import type { Offer } from '../catalogue/offer.ts';
import type { Admission, AdmissionOrder, ApiKey, Caller } from '../protocol/admission.ts';
import type { EndUserSource } from '../protocol/find-end-user.ts';
import type { RouteFormat } from '../protocol/format.ts';
import type { Infer } from '../protocol/inference.ts';
import type { KeyInfo } from '../protocol/key-info.ts';
import type { ReasoningVault } from '../protocol/sealed-reasoning.ts';
import type { Trace } from '../protocol/trace-context.ts';
import type { AnswerKeeper } from './answer-keeper.ts';
import type { RequestRecord } from './request-record.ts';
import type { TokenRatio } from './token-ratios.ts';
import type { UnreadList } from './unread-list.ts';

/** What the spine needs from outside. A step that refuses throws a `Refusal`. */
export interface Steps {
  /** The trace that a request is part of, if any. */
  startTrace(caller: Caller): Trace | undefined;
  /** Reads the key and checks everything that can be checked without the store. */
  checkKey(caller: Caller): ApiKey;
  /** What is sold at this moment. A request asks once and keeps the answer. */
  offer(): Offer;
  /** Names the settings that are in force. */
  readonly configVersion: string;
  /** How to estimate text that nobody has counted, and files. */
  readonly estimate: FileBounds & { readonly bytesPerToken: number };
  /** Bytes per token of a model, for answers that nobody has counted. */
  ratioOf(model: string): TokenRatio;
  /** What becomes of a `max_tokens` above the model's ceiling. */
  readonly overCeiling: 'reject' | 'clamp';
  /** Where a request may name its end user, the first choice first. */
  readonly endUserSources: readonly EndUserSource[];
  /** The most tokens of an output that limits of tokens hold; undefined for all. */
  readonly outputHeldMax: number | undefined;
  /** Checks everything else in one round trip and holds what the request may cost. */
  admit(order: AdmissionOrder): Promise<Admission>;
  /** Counts the large bodies of requests that are not admitted, by the owner of the key. */
  readonly unpaidBodies: {
    /** Resolves with the milliseconds to wait; 0 if the body may be read. */
    take(owner: string, bytes: number): Promise<number>;
    noteAdmitted(owner: string, bytes: number): void;
  };
  /** Rejects if the store does not know the key. */
  prove(key: ApiKey): Promise<{ readonly accountId: string }>;
  /**
   * For requests that cost nothing: checks the key and returns which models it may use (undefined:
   * all).
   */
  admitFree(key: ApiKey): Promise<{
    readonly accountId: string;
    readonly models: readonly string[] | undefined;
  }>;
  /** Checks the key in the same way, then returns what it may know about itself. */
  describeKey(key: ApiKey): Promise<KeyInfo>;
  /** Undefined if nothing is kept. */
  readonly answerKeeper: AnswerKeeper | undefined;
  /** Seals what models thought, for clients that bring it back. */
  readonly reasoning: ReasoningVault;
  readonly infer: Infer;
  readonly unread: UnreadList;
  /**
   * The formats that upstreams read. Requests in these formats are passed on as they came, so their
   * long texts need not be read.
   */
  readonly upstreamFormats: ReadonlySet<RouteFormat['name']>;
  /** Called once for each request when it has ended, however it ended. */
  observe(record: RequestRecord): void;
  /** Milliseconds since the epoch. */
  nowMs(): number;
}
