import { refuseField } from '../../chat/requests/refuse-field.ts';
import type { Tool, ToolChoice } from '../../inference.ts';
import type { ChosenTool, ResponsesRequest, ResponsesToolChoice } from './responses-request.ts';
import type { ToolBook } from './tool-book.ts';

interface DecodedTools {
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
  /** An upstream of this format reads these as well. */
  readonly unoffered: readonly object[];
}

/** Reads the tool choice, and which of the tools it leaves. */
export function decodeTools(body: ResponsesRequest, book: ToolBook): DecodedTools {
  const choice = body.tool_choice ?? undefined;
  const allowed = listAllowed(choice, book);
  const isAllowed = ({ name = '' }: Tool) => allowed === undefined || allowed.has(name);
  const tools = book.tools.filter(isAllowed);
  const unoffered =
    tools.length === book.tools.length
      ? book.repeated
      : [...book.repeated, ...book.tools.filter((tool) => !isAllowed(tool))];
  checkChoice(choice, tools, book);
  const toolChoice =
    tools.length === 0 ? undefined : decodeChoice(choice, body.parallel_tool_calls === false, book);
  return { tools, toolChoice, unoffered };
}

type AllowedTools = Extract<ResponsesToolChoice, { readonly mode: unknown }>;

function isAllowedTools(choice: ResponsesToolChoice | undefined): choice is AllowedTools {
  return typeof choice === 'object' && choice.type === 'allowed_tools';
}

function listAllowed(
  choice: ResponsesToolChoice | undefined,
  book: ToolBook,
): ReadonlySet<string> | undefined {
  if (!isAllowedTools(choice)) return undefined;
  return new Set(choice.tools.filter(isCallable).map((tool) => nameOf(tool, book)));
}

function isCallable({ type }: ChosenTool): boolean {
  return type === 'function' || type === 'custom';
}

const nameOf = ({ name = '', namespace }: ChosenTool, book: ToolBook) =>
  book.nameOf(name, namespace);

/** A call that nobody can make must not be demanded. */
function checkChoice(
  choice: ResponsesToolChoice | undefined,
  tools: readonly Tool[],
  book: ToolBook,
): void {
  if (typeof choice === 'object' && !isAllowedTools(choice)) {
    if (!isCallable(choice)) {
      throw refuse('tool_choice.type', 'tools that a vendor runs are not sold here');
    }
    const name = nameOf(choice, book);
    if (tools.some((tool) => tool.name === name)) return;
    throw refuse('tool_choice', 'It should name one of the tools');
  }
  const mode = isAllowedTools(choice) ? choice.mode : choice;
  if (mode !== 'required' || tools.length > 0) return;
  const why =
    book.hostedCount > 0
      ? 'of the tools none is left, because tools that a vendor runs are not sold here'
      : 'It is only allowed when tools are specified';
  throw refuse('tool_choice', why);
}

function refuse(path: string, message: string): Error {
  return refuseField({ path, kind: 'invalid', message });
}

function decodeChoice(
  choice: ResponsesToolChoice | undefined,
  isOneAtATime: boolean,
  book: ToolBook,
): ToolChoice | undefined {
  const oneAtATime = isOneAtATime ? { disable_parallel_tool_use: true } : {};
  const mode = isAllowedTools(choice) ? choice.mode : choice;
  switch (mode) {
    case undefined:
      return isOneAtATime ? { type: 'auto', ...oneAtATime } : undefined;
    case 'none':
      return { type: 'none' };
    case 'auto':
      return { type: 'auto', ...oneAtATime };
    case 'required':
      return { type: 'any', ...oneAtATime };
    default:
      return { type: 'tool', name: nameOf(mode, book), ...oneAtATime };
  }
}
