/** The fields that are read from a chat request, once `chatRequestSchema` has accepted it. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly max_completion_tokens?: number | null;
  readonly max_tokens?: number | null;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly stop?: string | readonly string[] | null;
  readonly stream?: boolean | null;
  readonly stream_options?: { readonly include_usage?: boolean | null } | null;
  readonly tools?: readonly ToolDefinition[] | null;
  readonly cache_control?: unknown;
  readonly tool_choice?: ChatToolChoice | null;
  readonly parallel_tool_calls?: boolean | null;
  readonly functions?: readonly FunctionDefinition[] | null;
  readonly function_call?: 'none' | 'auto' | { readonly name: string } | null;
  readonly response_format?: ResponseFormat | null;
  readonly reasoning_effort?: unknown;
  readonly user?: string | null;
  readonly safety_identifier?: string | null;
  readonly [field: string]: unknown;
}

/** Clients may mark any place up to which a native upstream is to cache the input. */
interface CacheMark {
  readonly cache_control?: unknown;
}

export interface TextPart extends CacheMark {
  readonly type: 'text';
  readonly text: string;
}

export interface ImagePart extends CacheMark {
  readonly type: 'image_url';
  readonly image_url: { readonly url: string };
}

export interface FilePart extends CacheMark {
  readonly type: 'file';
  readonly file: {
    readonly file_data?: string | null;
    readonly file_id?: unknown;
    readonly filename?: string | null;
  };
}

export type UserPart = TextPart | ImagePart | FilePart;

export interface FunctionCall {
  readonly name: string;
  /** JSON, or an empty text for a function without arguments. */
  readonly arguments: string;
}

interface ToolCall {
  readonly id: string;
  readonly function: FunctionCall;
  /** What a vendor added to the call, and wants back. */
  readonly extra_content?: unknown;
}

export interface AssistantMessage extends CacheMark {
  readonly role: 'assistant';
  readonly content?: string | readonly AssistantPart[] | null;
  /** The model's earlier thinking; some upstreams want it back. */
  readonly reasoning_content?: string;
  /** Whether the answer is to continue from this message. Some vendors call it `partial`. */
  readonly prefix?: unknown;
  readonly partial?: unknown;
  readonly tool_calls?: readonly ToolCall[] | null;
  readonly function_call?: FunctionCall | null;
}

/** A refusal is never sent to a model again. */
export type AssistantPart = TextPart | { readonly type: 'refusal' };

export type ChatMessage = CacheMark &
  (
    | { readonly role: 'developer' | 'system'; readonly content: string | readonly TextPart[] }
    | { readonly role: 'user'; readonly content: string | readonly UserPart[] }
    | AssistantMessage
    | {
        readonly role: 'tool';
        readonly tool_call_id: string;
        readonly content: string | readonly UserPart[];
      }
    | { readonly role: 'function'; readonly content: string | null }
  );

export interface ToolDefinition extends CacheMark {
  readonly function: FunctionDefinition;
}

export interface FunctionDefinition extends CacheMark {
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: Readonly<Record<string, unknown>> | null;
}

interface NamedFunction {
  readonly function: { readonly name: string };
}

export type ChatToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | ({ readonly type: 'function' } & NamedFunction)
  | {
      readonly type: 'allowed_tools';
      readonly allowed_tools: {
        readonly mode: 'auto' | 'required';
        readonly tools: readonly NamedFunction[];
      };
    };

export type ResponseFormat =
  | { readonly type: 'text' | 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly json_schema: {
        readonly name: string;
        readonly description?: string | null;
        readonly schema?: Readonly<Record<string, unknown>> | null;
        readonly strict?: boolean | null;
      };
    };
