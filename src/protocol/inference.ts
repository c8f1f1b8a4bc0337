import type { StopSignal } from '../lib/time/stop-signal.ts';
import type { Usage } from './answers/usage.ts';
import type { EmbeddingInput } from './embeddings/embedding-input.ts';
import type { RouteName } from './format-names.ts';
import type { JsonBody } from './json/parse-json-body.ts';
import type { ResponseContext } from './responses/response-context.ts';
import type { TextNotes } from './responses/text-notes.ts';
import type { CallSeal } from './sealed-reasoning.ts';
import type { ThinkingBlock } from './thinking-block.ts';
import type { Trace } from './trace-context.ts';
import type { Try } from './try.ts';

export type { Usage } from './answers/usage.ts';

/**
 * The terms that all formats, all upstreams and the gateway share. Content has the shape of the
 * native format, the richer one: native content passes through untouched, with unknown fields.
 */

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly cache_control?: CacheControl | null;
}

export interface CacheControl {
  readonly type: 'ephemeral';
  readonly ttl?: '5m' | '1h';
}

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly cache_control?: CacheControl | null;
}

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content?: string | readonly ContentBlock[] | null;
  readonly is_error?: boolean | null;
  readonly cache_control?: CacheControl | null;
}

/** Images, documents and all other blocks that are only passed on. */
export interface OtherBlock {
  readonly type:
    | 'image'
    | 'document'
    | 'search_result'
    | 'tool_reference'
    | 'redacted_thinking'
    | 'other';
  readonly [field: string]: unknown;
}

export type ContentBlock = TextBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock | OtherBlock;

export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly ContentBlock[];
}

export interface Tool {
  /** Only tools of a vendor may have none: a set of tools, whose names the vendor knows. */
  readonly name?: string;
  readonly description?: string | null;
  /** A JSON Schema whose content is never checked. Vendor tools may have none. */
  readonly input_schema?: Readonly<Record<string, unknown>>;
  readonly type?: string | null;
  readonly cache_control?: CacheControl | null;
  /** Only for tools that the vendor runs. */
  readonly max_uses?: unknown;
}

export type ToolChoice =
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'none' };

export interface InferenceRequest {
  /** The model as the client asked for it: an id or an alias. */
  readonly model: string;
  readonly isStream: boolean;
  readonly system: string | readonly TextBlock[] | undefined;
  readonly messages: readonly Message[];
  /** Chat clients may omit it; the model's ceiling applies then. */
  readonly outputTokensMax: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  readonly stopSequences: readonly string[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
  readonly thinkingTokensMax: number | undefined;
  readonly isThinking: boolean;
  /** The schema that the answer's text has to satisfy; `true` for any JSON object. */
  readonly outputSchema: Readonly<Record<string, unknown>> | true | undefined;
  /** Its name and description, and whether it is strict: what native requests do not say. */
  readonly schemaTerms?: Readonly<Record<string, unknown>> | undefined;
  /** How much effort the model is to make, in the client's own word. */
  readonly effort: string | undefined;
  readonly cacheControl: CacheControl | undefined;
  readonly isBetaContext: boolean;
  /** Names of a vendor's betas. Fields that are passed on may need them. */
  readonly betas: readonly string[];
  /** Fields of the native body that are only passed on, both known and unknown ones. */
  readonly passedOn: Readonly<Record<string, unknown>>;
  /** Fields that only an upstream of the chat format gets, from clients of another format. */
  readonly passedOnToChat?: Readonly<Record<string, unknown>>;
  /** What a chat client says that an upstream of the Responses format can be sent. */
  readonly passedOnToResponses?:
    | Readonly<Record<'verbosity' | 'prompt_cache_key', unknown>>
    | undefined;
  /** Lets a native model think as much as the effort says, if the upstream takes an effort. */
  readonly adaptiveThinking?: Readonly<Record<string, unknown>> | undefined;
  /** Unknown fields by name, unknown kinds by path. Each upstream's settings decide about them. */
  readonly unknownFields: readonly string[];
  /** Values that are not in any field above, but go to an upstream of the client's own format. */
  readonly sentUndecoded: readonly unknown[];
  /** Set if the request wants embeddings of this, and no answer. */
  readonly embeds?: EmbeddingInput | undefined;
  /** Exists only in types: it keeps an abridged request from being used as a whole one. */
  readonly [abridged]?: never;
}

/**
 * A request with stand-ins for its long texts, which nobody has read (`abridgeJson`). It says
 * everything that has to be known to sell an answer. It must not be sent, so no function that
 * writes a request takes it.
 */
export type AbridgedRequest = Omit<InferenceRequest, typeof abridged> & {
  readonly [abridged]: true;
};

declare const abridged: unique symbol;

/** For code that needs everything in a request except its texts. */
export type RequestOutline = InferenceRequest | AbridgedRequest;

export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded';

interface SpokenText {
  readonly type: 'text';
  /** Whether the model says in it why it does not answer. Native clients read it as any text. */
  readonly isRefusal?: true | undefined;
}

export type OutputBlock =
  | (SpokenText & { readonly text: string; readonly notes?: TextNotes | undefined })
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | ToolUseBlock;

/**
 * The events of one answer, in order: start, (block_start, delta …, block_stop) …, finish. A usage
 * event may come anywhere after the start. If the upstream fails, its next event is a thrown
 * `Refusal`.
 */
export type InferenceEvent =
  | { readonly type: 'start'; readonly id: string; readonly model: string; readonly usage: Usage }
  | { readonly type: 'block_start'; readonly index: number; readonly block: BlockStart }
  | { readonly type: 'delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'block_stop'; readonly index: number; readonly notes?: TextNotes | undefined }
  /** The usage of the answer so far; encoders skip it. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'finish';
      readonly stopReason: StopReason;
      readonly stopSequence: string | undefined;
      /** The usage of the whole answer; `undefined` if the upstream never reported it. */
      readonly usage: Usage | undefined;
    };

export type BlockStart =
  | SpokenText
  | { readonly type: 'thinking' }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string };

export type BlockDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  | { readonly type: 'signature'; readonly signature: string }
  | { readonly type: 'input_json'; readonly json: string };

/** A whole answer, put together from its events. */
export interface InferenceAnswer {
  readonly id: string;
  readonly model: string;
  readonly content: readonly OutputBlock[];
  readonly stopReason: StopReason;
  readonly stopSequence: string | undefined;
  readonly usage: Usage;
}

/** What the gateway adds to an answer, because the upstream does not know it. */
export interface AnswerContext {
  /** When the request was accepted, in seconds since the epoch. */
  readonly createdSeconds: number;
  /** Whether the stream has to report its usage to the client. */
  readonly wantsStreamUsage: boolean;
  readonly embeds?: EmbeddingInput | undefined;
  /** Only for a format whose answers repeat what was asked. */
  readonly response?: ResponseContext;
}

/** The form in which the client reads the answer. */
export interface AnswerForm {
  readonly format: RouteName;
  readonly context: AnswerContext;
}

/** One request on its way to one upstream. */
export interface InferenceCall {
  /** No other request has it, so ids that an answer has to be given come from it. */
  readonly requestId: string;
  readonly accountId: string;
  readonly request: RequestOutline;
  /** Returns the same request with all of its texts. */
  readonly readWhole: () => InferenceRequest;
  /** The pinned id of the model: aliases are already resolved. */
  readonly model: string;
  /** The least of what the client or the model allows, limits leave room for and the hold pays. */
  readonly outputTokensMax: number;
  readonly contextTokensMax: number;
  /** Whether the client asked for the larger window and the model has it. */
  readonly isBetaContext: boolean;
  readonly form: AnswerForm;
  /** Whether the request has a PDF, by value or by URL. Not every upstream takes PDFs. */
  readonly hasPdfs: boolean;
  /** The body as it came, for upstreams that read the format of `form`. Nothing writes to it. */
  readonly source?: JsonBody | undefined;
  /** Called once, at the end of the answer, with the upstreams that were called and the results. */
  readonly noteTries: (tries: readonly Try[]) => void;
  /** Seals and opens the thoughts of the account; absent if they cannot be carried. */
  readonly reasoning?: CallSeal | undefined;
  readonly trace: Trace | undefined;
  /** Whether nobody reads the answer: only its cost is wanted, and it is not tried again. */
  readonly isUnread: () => boolean;
  /** Cuts off a client that has kept its upstream waiting. Returns whether to continue unread. */
  readonly cutOff: () => boolean;
  /** Aborted if nobody wants the answer any more or the time is up. The upstream stops at once. */
  readonly signal: StopSignal;
}

/** What an upstream said in one go. */
export interface AnswerPart {
  readonly events: readonly InferenceEvent[];
  /** The length of the deltas that are only in `bytes`, not among the events. */
  readonly contentBytes: number;
  /** How many of these follow the last usage among the events, if there is one. */
  readonly unreportedBytes?: number | undefined;
  /**
   * The same in the form that the client reads, if the upstream speaks it. These bytes are sent to
   * the client. A stream comes in whole events, so the gateway may write an event of its own after
   * any part. A whole answer comes in one part.
   */
  readonly bytes: Uint8Array | undefined;
  /** Writes the end instead of `bytes`, with the billed usage, if this part reports the usage. */
  readonly closing?: Closing | undefined;
  /** The number of the event that follows `bytes`, if its format numbers its events. */
  readonly nextNumber?: number | undefined;
  /** Set if nothing follows. Not every answer knows in time. */
  readonly isLast?: true | undefined;
}

export type Closing = (usage: Usage) => Uint8Array;

/** Takes a part, whose `bytes` stay valid only until it returns. Returns whether more is wanted. */
export type TakePart = (part: AnswerPart) => boolean | Promise<boolean>;

/** One answer. Its reader asks for one part at a time; `return` says that it wants no more. */
export interface Answer extends AsyncIterableIterator<AnswerPart> {
  /**
   * Hands over all parts after the first one as they come, without being asked for each. Returns at
   * the end whether that was the whole answer. Fails as `next` does.
   */
  pour?(take: TakePart): Promise<boolean>;
  /** Whether the upstream has the whole request. An answer that does not know says yes. */
  isSent?(): boolean;
}

/** Throws a `Refusal` if the upstream refuses or breaks, before or between its parts. */
export type Infer = (call: InferenceCall) => Answer;
