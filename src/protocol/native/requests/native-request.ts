import type { CacheControl, Message, TextBlock, Tool, ToolChoice } from '../../inference.ts';

interface OutputFormat {
  readonly type: string;
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** A body that `nativeRequestSchema` accepts. */
export interface NativeRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly max_tokens: number;
  readonly system?: string | readonly TextBlock[] | null;
  readonly stream?: boolean | null;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly top_k?: number | null;
  readonly stop_sequences?: readonly string[] | null;
  readonly tools?: readonly Tool[] | null;
  readonly tool_choice?: ToolChoice | null;
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number } | null;
  readonly cache_control?: CacheControl | null;
  readonly output_config?: {
    readonly format?: OutputFormat | null;
    readonly effort?: string | null;
  } | null;
  /** The older place for `output_config.format`. */
  readonly output_format?: OutputFormat | null;
  readonly [field: string]: unknown;
}

/** Whether thinking is on. An unknown kind of thinking counts as on. */
export function isThinkingOn({ thinking }: NativeRequest): boolean {
  return thinking != null && thinking.type !== 'disabled';
}
