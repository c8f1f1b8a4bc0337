import { JsonPlace } from '../../protocol/json/json-place.ts';
import type { ErrorPlan } from './simulated-errors.ts';
/**
 * What a prompt may ask of the simulated model, anywhere in the text of the last user message:
 *
 *   [[error STATUS]]          fails with this status instead of an answer
 *   [[error STATUS after N]]  fails with it after N tokens of the answer
 *   [[tool NAME]]             calls the tool with input made for its schema; several: in parallel
 *   [[tool NAME {json}]]      calls it with this input; a search tool only reports a search
 *   [[tokens N]]              answers with exactly N tokens of text
 *   [[slow MS]]               waits MS milliseconds before each token
 *   [[latency MS]]            waits MS milliseconds before the first event
 *   [[thinking]]              thinks first, whether the request asks for it or not
 *
 * STATUS is one of 400, 413, 429, 500, 502, 503, 504, 529. Anything that is written differently is
 * plain text. Of several directives of one kind, except tools, the last one holds.
 */
export interface Directives {
  readonly error: ErrorPlan | undefined;
  readonly tools: readonly ToolDirective[];
  readonly textTokens: number | undefined;
  readonly tokenDelayMs: number | undefined;
  readonly latencyMs: number | undefined;
  readonly isThinking: boolean;
}

interface ToolDirective {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>> | undefined;
}

type DirectivesDraft = { -readonly [Field in keyof Directives]: Directives[Field] } & {
  tools: ToolDirective[];
};

/** A prompt full of openings must not cost more than one without any. */
const OPENINGS_MAX = 64;
const TOOL_INPUT_CHARS_MAX = 65_536;

const OPENING = /\[\[(?=error|tool|tokens|slow|latency|thinking)/g;
const ERROR = /error (400|413|429|500|502|503|504|529)(?: after (\d{1,6}))?\]\]/y;
const NUMBER = /(tokens|slow|latency) (\d{1,6})\]\]/y;
const THINKING = /thinking\]\]/y;
const TOOL = /tool ([a-zA-Z0-9_-]{1,128})(?:\]\]| (?=\{))/y;

export function parseDirectives(text: string): Directives {
  const reading: DirectivesDraft = {
    error: undefined,
    tools: [],
    textTokens: undefined,
    tokenDelayMs: undefined,
    latencyMs: undefined,
    isThinking: false,
  };
  let openings = 0;
  for (const opening of text.matchAll(OPENING)) {
    openings += 1;
    if (openings > OPENINGS_MAX) break;
    readDirective(text, opening.index + opening[0].length, reading);
  }
  return reading;
}

function readDirective(text: string, start: number, reading: DirectivesDraft): void {
  const error = matchAt(ERROR, text, start);
  const number = matchAt(NUMBER, text, start);
  const tool = matchAt(TOOL, text, start);
  if (error !== undefined) {
    const [, status, after] = error;
    reading.error = {
      status: Number(status),
      afterTokens: after === undefined ? undefined : Number(after),
      isAskedFor: true,
    };
  } else if (number !== undefined) {
    const value = Number(number[2]);
    if (number[1] === 'tokens') reading.textTokens = value;
    else if (number[1] === 'slow') reading.tokenDelayMs = value;
    else reading.latencyMs = value;
  } else if (tool !== undefined) {
    const [whole, name = ''] = tool;
    if (whole.endsWith(']]')) reading.tools.push({ name, input: undefined });
    else {
      const input = readInput(text, start + whole.length);
      if (input !== undefined) reading.tools.push({ name, input });
    }
  } else if (matchAt(THINKING, text, start) !== undefined) reading.isThinking = true;
}

function matchAt(pattern: RegExp, text: string, start: number): RegExpExecArray | undefined {
  pattern.lastIndex = start;
  return pattern.exec(text) ?? undefined;
}

/**
 * The JSON object that begins at `start`, if `]]` follows it. Brackets in its strings and lists do
 * not end it.
 */
function readInput(text: string, start: number): Readonly<Record<string, unknown>> | undefined {
  const end = findObjectEnd(text, start);
  if (end === undefined || !text.startsWith(']]', end)) return undefined;
  try {
    return JSON.parse(text.slice(start, end)) as Readonly<Record<string, unknown>>;
  } catch {
    // Not JSON, so not a directive.
    return undefined;
  }
}

function findObjectEnd(text: string, start: number): number | undefined {
  const limit = Math.min(text.length, start + TOOL_INPUT_CHARS_MAX);
  const json = new JsonPlace();
  for (let at = start; at < limit; at++) {
    json.pass(text.charCodeAt(at));
    if (json.depth === 0) return at + 1;
  }
  return undefined;
}
