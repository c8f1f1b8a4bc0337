import type { ResponseItem } from '../references.ts';

/** The fields that are read from a request, once `responsesRequestSchema` has accepted it. */
export interface ResponsesRequest {
  readonly model: string;
  readonly input?: string | readonly InputItem[] | null;
  readonly instructions?: string | null;
  readonly max_output_tokens?: number | null;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly stream?: boolean | null;
  readonly store?: boolean | null;
  readonly tools?: readonly ToolDefinition[] | null;
  readonly tool_choice?: ResponsesToolChoice | null;
  readonly parallel_tool_calls?: boolean | null;
  readonly text?: { readonly format?: TextFormat | null; readonly verbosity?: unknown } | null;
  readonly reasoning?: { readonly effort?: string | null; readonly summary?: unknown } | null;
  readonly previous_response_id?: string | null;
  readonly prompt_cache_key?: string | null;
  readonly safety_identifier?: string | null;
  readonly user?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly [field: string]: unknown;
}

export type InputPart =
  | { readonly type: 'input_text' | 'output_text' | 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly refusal: string }
  | { readonly type: 'input_image'; readonly image_url?: unknown; readonly file_id?: unknown }
  | {
      readonly type: 'input_file';
      readonly file_data?: string | null;
      readonly file_url?: string | null;
      readonly filename?: string | null;
      readonly file_id?: unknown;
    };

export type PartsOrText = string | readonly InputPart[];

export type InputMessage = ResponseItem & {
  readonly type?: 'message' | null;
  readonly role: 'user' | 'assistant' | 'system' | 'developer';
  readonly content?: PartsOrText | null;
};

export type InputCall = ResponseItem & {
  readonly type: 'function_call' | 'custom_tool_call';
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string | null;
  readonly arguments?: string;
  readonly input?: string;
};

export type InputOutput = ResponseItem & {
  readonly type: 'function_call_output' | 'custom_tool_call_output';
  readonly call_id: string;
  readonly output: PartsOrText;
};

export type InputThought = ResponseItem & {
  readonly type: 'reasoning';
  readonly encrypted_content?: string | null;
  readonly summary?: unknown;
};

export type InputTools = ResponseItem & {
  readonly type: 'additional_tools';
  readonly tools?: readonly ToolDefinition[] | null;
};

/** An item that no model reads here. */
type UnreadItem = ResponseItem & { readonly type: 'unread' };

export type InputItem =
  | InputMessage
  | InputCall
  | InputOutput
  | InputThought
  | InputTools
  | UnreadItem;

export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  readonly strict?: boolean | null;
}

export interface CustomTool {
  readonly type: 'custom';
  readonly name: string;
  readonly description?: string | null;
  readonly format?: {
    readonly type: string;
    readonly syntax?: string;
    readonly definition?: string;
  } | null;
}

interface NamespaceTool {
  readonly type: 'namespace';
  readonly name: string;
  readonly description?: string | null;
  readonly tools: readonly ToolDefinition[];
}

interface HostedTool {
  readonly type: 'hosted';
}

export type ToolDefinition = FunctionTool | CustomTool | NamespaceTool | HostedTool;

export interface ChosenTool {
  readonly type: string;
  readonly name?: string;
  readonly namespace?: string | null;
}

export type ResponsesToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | ChosenTool
  | {
      readonly type: 'allowed_tools';
      readonly mode: 'auto' | 'required';
      readonly tools: readonly ChosenTool[];
    };

type TextFormat =
  | { readonly type: 'text' | 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name?: string | null;
      readonly description?: string | null;
      readonly schema?: Readonly<Record<string, unknown>> | null;
      readonly strict?: boolean | null;
    };
