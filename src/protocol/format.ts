import type { RefusalEncoder } from './encode-hybrid-refusal.ts';
import type { FormatName, RouteName } from './format-names.ts';
import type {
  AnswerContext,
  InferenceAnswer,
  InferenceEvent,
  InferenceRequest,
} from './inference.ts';
import type { Abridgment } from './json/abridge-json.ts';
import type { KnownNames } from './json/unify-names.ts';
import type { RateEncoder } from './rates/encode-rate.ts';
import type { Refusal } from './refusals.ts';
import type {
  AnswerToKeep,
  ItemReferences,
  RecalledItems,
  ResponseItem,
} from './responses/references.ts';
import type { ResponseTerms } from './responses/response-context.ts';
import type { OpenThought } from './responses/thought.ts';

/** Reads a header of a request by its lower-case name. */
export type HeaderSource = (name: string) => string | undefined;

export interface DecodedRequest {
  readonly request: InferenceRequest;
  readonly wantsStreamUsage: boolean;
  /** Only for a format whose answers repeat what was asked. */
  readonly response?: ResponseTerms;
  /** What this request has brought; only if its client may refer to the answer later. */
  readonly newItems?: readonly ResponseItem[] | undefined;
}

/** What decoding cannot know by itself. */
export interface DecodeAids {
  readonly openThought?: OpenThought;
  /** Whether what the body refers to has been put in its place. */
  readonly isResolved?: boolean;
}

/** For a format whose requests may refer to earlier answers. */
interface KeepRules {
  findReferences(body: unknown): ItemReferences | undefined;
  /** Throws a `Refusal` for what is not found. */
  resolveReferences(body: ResponseItem, recalled: RecalledItems): ResponseItem;
  /** Undefined if the answer is not to be kept. */
  describeAnswer(answer: InferenceAnswer, context: AnswerContext): AnswerToKeep | undefined;
}

/**
 * Turns the events of one answer into server-sent events. It keeps what later events need from
 * earlier ones.
 */
export interface StreamEncoder {
  /** Returns the bytes of one event, which may be none. */
  encode(event: InferenceEvent): string;
  /** Returns the bytes that end a stream that failed in the middle. Nothing follows them. */
  encodeError(refusal: Parameters<RefusalEncoder>[0], requestId: string): string;
  /** Returns the bytes that keep a silent stream alive. */
  encodeSilence(): string;
  /**
   * What is to be kept of the answer, if anything. Asked before the finish is encoded, because
   * the finish says whether the answer was kept.
   */
  readKept?(finish: Extract<InferenceEvent, { type: 'finish' }>): AnswerToKeep | undefined;
  noteKept?(isKept: boolean): void;
}

/** A request format. The routes differ in nothing else. */
export interface Format {
  readonly name: FormatName;
  /** Throws a `Refusal` that names the faulty field and says what is wrong with it. */
  decodeRequest(body: unknown, header: HeaderSource, aids?: DecodeAids): DecodedRequest;
  /** The names of all fields at any depth, except where clients choose the names. */
  readonly knownNames: KnownNames;
  /** Says where long texts of a body may be left unread. */
  readonly abridgment: Abridgment;
  /** Whether the abridgment of this decoded body keeps everything except its long texts. */
  canBeAbridged(body: Readonly<Record<string, unknown>>): boolean;
  encodeAnswer(answer: InferenceAnswer, context: AnswerContext): string;
  createStreamEncoder(context: AnswerContext): StreamEncoder;
  readonly encodeRefusal: RefusalEncoder;
  statusOf(refusal: Refusal, header: HeaderSource): number;
  /** Encodes the headers that say how much of a caller's rate limit is left. */
  readonly encodeRate: RateEncoder;
  readonly keepRules?: KeepRules;
}

/** A format, or what embeddings are asked for in. */
export type RouteFormat = Omit<Format, 'name'> & { readonly name: RouteName };
