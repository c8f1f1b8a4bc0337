import type { StopSignal } from '../lib/time/stop-signal.ts';
import type { FormatName } from './format-names.ts';
import type { JsonBody } from './json/parse-json-body.ts';
import type { Trace } from './trace-context.ts';

/**
 * The words that both formats, every upstream and the spine share. Content has the shape of the native
 * format, which is the richer one: what came in it goes out in it untouched, unknown fields included.
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

export interface ThinkingBlock {
  readonly type: 'thinking';
  readonly thinking: string;
  readonly signature: string;
}

/** Image, document and all other blocks that are only passed on. */
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
  readonly name: string;
  readonly description?: string | null;
  /** A JSON Schema; its inside is never looked at. Vendor tools may have none. */
  readonly input_schema?: Readonly<Record<string, unknown>>;
  readonly type?: string | null;
  readonly cache_control?: CacheControl | null;
  /** Of tools that the vendor runs. */
  readonly max_uses?: unknown;
}

export type ToolChoice =
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'none' };

export interface InferenceRequest {
  /** As asked: an id or an alias. */
  readonly model: string;
  readonly isStream: boolean;
  readonly system: string | readonly TextBlock[] | undefined;
  readonly messages: readonly Message[];
  /** Chat clients may leave it to the model's ceiling. */
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
  /** How much the model is to make of it, in the client's own word. */
  readonly effort: string | undefined;
  readonly cacheControl: CacheControl | undefined;
  readonly isBetaContext: boolean;
  /** Names of a vendor's betas, which fields that are passed on may need. */
  readonly betas: readonly string[];
  /** Fields of the native body that are only passed on, known and unknown ones alike. */
  readonly passedOn: Readonly<Record<string, unknown>>;
  /** Names of fields, or paths of kinds, that nobody here knows: each upstream's settings say what becomes of them. */
  readonly unknownFields: readonly string[];
  /** What stands nowhere above and yet goes to an upstream of the client's own format. */
  readonly sentUnread: readonly unknown[];
  /** In types alone: an abridged request is none of these. */
  readonly [abridged]?: never;
}

/**
 * A request whose long texts nobody has read: in their places stand others (`abridgeJson`). It says all that has to
 * be known to sell an answer, and is not to be sent: nothing that writes a request takes one.
 */
export type AbridgedRequest = Omit<InferenceRequest, typeof abridged> & {
  readonly [abridged]: true;
};

declare const abridged: unique symbol;

/** For whoever looks at all of a request but its texts. */
export type RequestOutline = InferenceRequest | AbridgedRequest;

/** What is billed: tokens by price, and searches. `input` excludes what was read from or written to the cache; `output` includes thinking. */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly output: number;
  readonly thinking: number;
  /** Of the web, that the vendor made for the model. */
  readonly searches: number;
}

export type StopReason =
  | 'end_turn'
  | 'max_tokens'
  | 'stop_sequence'
  | 'tool_use'
  | 'pause_turn'
  | 'refusal'
  | 'model_context_window_exceeded';

export type OutputBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | ToolUseBlock;

/**
 * One answer, in order: start, (block_start, delta …, block_stop) …, finish, and usage anywhere behind the start. An
 * upstream that fails throws a `Refusal` instead of its next event.
 */
export type InferenceEvent =
  | { readonly type: 'start'; readonly id: string; readonly model: string; readonly usage: Usage }
  | { readonly type: 'block_start'; readonly index: number; readonly block: BlockStart }
  | { readonly type: 'delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'block_stop'; readonly index: number }
  /** Of the answer so far; who encodes it passes it over. */
  | { readonly type: 'usage'; readonly usage: Usage }
  | {
      readonly type: 'finish';
      readonly stopReason: StopReason;
      readonly stopSequence: string | undefined;
      /** Of the whole answer, not of what came since the start; `undefined` where the upstream never told. */
      readonly usage: Usage | undefined;
    };

export type BlockStart =
  | { readonly type: 'text' }
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

/** What the gateway adds to an answer that the upstream does not know. */
export interface AnswerContext {
  /** Seconds since the epoch at which the request was taken. */
  readonly createdSeconds: number;
  /** What the client asked for beside the request itself. */
  readonly wantsStreamUsage: boolean;
}

/** What the client reads. */
export interface AnswerForm {
  readonly format: FormatName;
  readonly context: AnswerContext;
}

/** One request on its way to one upstream. */
export interface InferenceCall {
  readonly request: RequestOutline;
  /** The same with all of its texts. */
  readonly readWhole: () => InferenceRequest;
  /** The pinned id of the model; aliases are resolved by now. */
  readonly model: string;
  /** What the client asked for, or else the model's ceiling. */
  readonly outputTokensMax: number;
  readonly contextTokensMax: number;
  /** Asked for, of a model that has the larger window. */
  readonly isBetaContext: boolean;
  readonly form: AnswerForm;
  /** There is at least one, by value or by URL: not every upstream takes them. */
  readonly hasPdfs: boolean;
  /** What the request was read from, for upstreams that read the format of `form`; never written to. */
  readonly source?: JsonBody | undefined;
  /** Which upstreams were called, and what became of it; told once, when the answer is over. */
  readonly noteTries: (tries: readonly Try[]) => void;
  /** Upstreams are told of it. */
  readonly trace: Trace | undefined;
  /** Nobody reads the answer any more: only what it costs is wanted, and it is not asked for again. */
  readonly isUnread: () => boolean;
  /** Aborted when nobody wants any more of it, or the time is up: the upstream stops at once. */
  readonly signal: StopSignal;
}

/** What became of one call of one upstream. */
export interface Try {
  readonly upstream: string;
  /** `left`: the client did; `fault`: ours, by a mistake; all others are the upstream's doing. */
  readonly result: TryResult;
}

export const TRY_RESULTS = [
  'ok',
  'refused',
  'overloaded',
  'broken',
  'unreachable',
  'denied',
  'slow',
  'left',
  'fault',
] as const;
export type TryResult = (typeof TRY_RESULTS)[number];

/** What an upstream said at once. */
export interface AnswerPart {
  readonly events: readonly InferenceEvent[];
  /** Of the deltas that are not among the events, because `bytes` say all there is to say of them. */
  readonly contentBytes: number;
  /**
   * The same in the form that the client reads, from an upstream that speaks it: this is what goes out. A stream
   * comes in whole events, so that a word of ours may follow at any time; a whole answer comes in one part.
   */
  readonly bytes: Uint8Array | undefined;
  /** What goes out instead of `bytes`, where it tells the client the usage that the finish among the events is billed for. */
  readonly closing?: Closing | undefined;
  /** Nothing follows: whoever is told so need not ask again. Not everybody knows it in time. */
  readonly isLast?: true | undefined;
}

export type Closing = (usage: Usage) => Uint8Array;

/**
 * Takes a part at once, whose `bytes` stay as they are only until it answers: whether more is wanted, or, from a
 * client that has to catch up, a promise of that.
 */
export type TakePart = (part: AnswerPart) => boolean | Promise<boolean>;

/** One answer on its way: one part is asked for at a time, and `return` says that no more are wanted. */
export interface Answer extends AsyncIterableIterator<AnswerPart> {
  /**
   * Behind the first part: all others are handed over as they come, nobody asks for them. Tells in the end whether
   * that was all; fails as `next` does.
   */
  pour?(take: TakePart): Promise<boolean>;
  /** Whether the upstream that is asked now has been sent the whole request. Who cannot tell has sent it. */
  isSent?(): boolean;
}

/** Throws a `Refusal` when the upstream refuses or breaks, before the first part or between two. */
export type Infer = (call: InferenceCall) => Answer;
