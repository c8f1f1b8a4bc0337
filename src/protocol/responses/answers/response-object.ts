import type { AnswerContext, Usage } from '../../inference.ts';
import { NO_TOOL_NAMES, type ResponseContext, type ToolName } from '../response-context.ts';
import { encodeUsage } from './encode-usage.ts';

const REQUEST_ID_PREFIX = 'req_';
const OWN_THOUGHT = /^rs_([0-9A-Za-z]{24})_\d+$/;

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';

interface ResponseState {
  readonly status: Status;
  /** The items, each as JSON. */
  readonly output: readonly string[];
  readonly usage: Usage | undefined;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Repeating a longer request costs more than its answer. */
export const ECHO_CHARS_MAX = 256 * 1024;

/** What stands in place of the fields that may be of any length. */
const SHORT_ECHO: Readonly<Record<string, unknown>> = {
  instructions: null,
  max_tool_calls: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  user: undefined,
};

/** Leaves out what may be of any length, if all of it is too long. */
export function limitEcho(echo: ResponseContext['echo']): ResponseContext['echo'] {
  return JSON.stringify(echo).length > ECHO_CHARS_MAX ? { ...echo, ...SHORT_ECHO } : echo;
}

/** For callers that know nothing of a request, such as a test of the format alone. */
const NO_RESPONSE: ResponseContext = {
  echo: {},
  toolNames: NO_TOOL_NAMES,
  wantsStore: false,
  previousId: undefined,
  requestId: REQUEST_ID_PREFIX,
  completedSeconds: () => 0,
};

export function responseContextOf({ response }: AnswerContext): ResponseContext {
  return response ?? NO_RESPONSE;
}

export function responseIdOf(requestId: string): string {
  return `resp_${requestId.slice(REQUEST_ID_PREFIX.length)}`;
}

/** The ids of a response's items; `index` is the place in its output. */
export function itemIdOf(prefix: 'msg' | 'fc' | 'ctc' | 'rs', requestId: string, index: number) {
  return `${prefix}_${requestId.slice(REQUEST_ID_PREFIX.length)}_${index}`;
}

/** Returns the part of the id of a thought that names its answer; undefined if it is not ours. */
export function answerOfThought(itemId: unknown): string | undefined {
  return typeof itemId === 'string' ? OWN_THOUGHT.exec(itemId)?.[1] : undefined;
}

export function toolOf({ toolNames }: ResponseContext, name: string): ToolName {
  return toolNames.get(name) ?? { name, namespace: undefined, isCustom: false };
}

/** Writes the response in all of its states. What never changes is written once. */
export class ResponseObject {
  readonly #head: string;
  readonly #context: ResponseContext;
  readonly #createdSeconds: number;
  #echo: string | undefined;

  constructor(model: string, context: AnswerContext) {
    this.#context = responseContextOf(context);
    this.#createdSeconds = context.createdSeconds;
    const id = responseIdOf(this.#context.requestId);
    this.#head = `{"id":"${id}","object":"response","created_at":${context.createdSeconds},"model":${JSON.stringify(model)}`;
  }

  write({ status, output, usage, error }: ResponseState, isStored: boolean): string {
    const isOver = status === 'completed' || status === 'incomplete';
    const completedAt = isOver ? this.#completedSeconds() : null;
    const why = status === 'incomplete' ? '{"reason":"max_output_tokens"}' : null;
    const usageJson = usage === undefined ? null : JSON.stringify(encodeUsage(usage));
    const ending = `"error":${JSON.stringify(error ?? null)},"incomplete_details":${why}`;
    const state = `"status":"${status}","completed_at":${completedAt},${ending},"usage":${usageJson}`;
    const items = `"output":[${output.join(',')}]`;
    return `${this.#head},${state},"store":${isStored},${items}${this.#readEcho()}}`;
  }

  #completedSeconds(): number {
    return Math.max(this.#context.completedSeconds(), this.#createdSeconds);
  }

  #readEcho(): string {
    if (this.#echo === undefined) {
      const { echo } = this.#context;
      const whole = JSON.stringify(echo);
      const isLong = whole.length > ECHO_CHARS_MAX;
      const json = isLong ? JSON.stringify({ ...echo, ...SHORT_ECHO }) : whole;
      this.#echo = json === '{}' ? '' : `,${json.slice(1, -1)}`;
    }
    return this.#echo;
  }
}
