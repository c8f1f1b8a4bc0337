import type { RefusalEncoder } from './encode-hybrid-refusal.ts';
import type { RateEncoder } from './encode-rate.ts';
import type {
  AnswerContext,
  AnswerForm,
  InferenceAnswer,
  InferenceEvent,
  InferenceRequest,
} from './inference.ts';
import type { Abridgment } from './json/abridge-json.ts';
import type { KnownNames } from './json/unify-names.ts';
import type { Refusal } from './refusals.ts';

/** What a format reads of a request's headers, by lower-case name. */
export type HeaderSource = (name: string) => string | undefined;

export interface DecodedRequest {
  readonly request: InferenceRequest;
  readonly wantsStreamUsage: boolean;
}

/** Turns the events of one answer into server-sent events; keeps what later ones need of earlier ones. */
export interface StreamEncoder {
  /** The bytes of one event, which may be none. */
  encode(event: InferenceEvent): string;
  /** What ends a stream that failed in its middle; nothing follows it. */
  encodeError(refusal: Parameters<RefusalEncoder>[0], requestId: string): string;
  /** What keeps a silent stream alive. */
  encodeSilence(): string;
}

/** One of the request formats: the only thing in which the two routes differ. */
export interface Format {
  readonly name: AnswerForm['format'];
  /** Throws a `Refusal` that names the field and says what is wrong with it. */
  decodeRequest(body: unknown, header: HeaderSource): DecodedRequest;
  /** What its fields are called, at any depth, where clients have no choice. */
  readonly knownNames: KnownNames;
  /** Where long texts of a body may be left unread. */
  readonly abridgment: Abridgment;
  /** Whether that leaves a body that was decoded as it is but for its long texts. */
  canBeAbridged(body: Readonly<Record<string, unknown>>): boolean;
  encodeAnswer(answer: InferenceAnswer, context: AnswerContext): string;
  createStreamEncoder(context: AnswerContext): StreamEncoder;
  readonly encodeRefusal: RefusalEncoder;
  statusOf(refusal: Refusal): number;
  /** The headers that tell a caller how much of its rate limit is left. */
  readonly encodeRate: RateEncoder;
}
