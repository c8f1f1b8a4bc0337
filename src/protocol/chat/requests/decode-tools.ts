import type { Tool, ToolChoice } from '../../inference.ts';
import type {
  ChatRequest,
  ChatToolChoice,
  FunctionDefinition,
  ToolDefinition,
} from './chat-request.ts';
import { decodeMarker } from './decode-content.ts';
import { refuseField } from './refuse-field.ts';

interface DecodedTools {
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
}

/** Reads the tools and the tool choice, in the current or in the deprecated form. */
export function decodeTools(chat: ChatRequest): DecodedTools {
  const choice = readChoice(chat);
  const allowed = listAllowedNames(choice);
  const tools = listDefinitions(chat)
    .filter(({ name }) => allowed === undefined || allowed.has(name))
    .map(decodeTool);
  if (tools.length > 0) return { tools, toolChoice: decodeChoice(choice, chat) };
  if (isDemand(choice)) {
    const message = 'It is only allowed when tools are specified';
    const path = chat.tool_choice ? 'tool_choice' : 'function_call';
    throw refuseField({ path, kind: 'invalid', message });
  }
  return { tools, toolChoice: undefined };
}

/** Lists the tools that the tool choice leaves out. A chat upstream reads these as well. */
export function listUnoffered(chat: ChatRequest): readonly FunctionDefinition[] {
  const allowed = listAllowedNames(readChoice(chat));
  if (allowed === undefined) return [];
  return listDefinitions(chat).filter(({ name }) => !allowed.has(name));
}

function listDefinitions(chat: ChatRequest): readonly FunctionDefinition[] {
  return [...(chat.tools ?? []).map(readDefinition), ...(chat.functions ?? [])];
}

function readChoice(chat: ChatRequest): ChatToolChoice | undefined {
  return chat.tool_choice ?? readFunctionCall(chat.function_call);
}

/** A cache marker is either beside the function or inside it. */
function readDefinition(tool: ToolDefinition): FunctionDefinition {
  const { function: definition, cache_control: control } = tool;
  return control == null ? definition : { ...definition, cache_control: control };
}

function decodeTool(definition: FunctionDefinition): Tool {
  const { name, description, parameters } = definition;
  return {
    name,
    ...decodeMarker(definition),
    ...(typeof description === 'string' && { description }),
    // Native tools need the type, which chat clients leave out for tools without parameters.
    input_schema: { type: 'object', properties: {}, ...parameters },
  };
}

function readFunctionCall(call: ChatRequest['function_call']): ChatToolChoice | undefined {
  if (call === undefined || call === null || typeof call === 'string') return call ?? undefined;
  return { type: 'function', function: call };
}

function listAllowedNames(choice: ChatToolChoice | undefined): ReadonlySet<string> | undefined {
  if (typeof choice !== 'object' || choice.type !== 'allowed_tools') return undefined;
  return new Set(choice.allowed_tools.tools.map((tool) => tool.function.name));
}

/** Whether the model is forced to call a tool. */
function isDemand(choice: ChatToolChoice | undefined): boolean {
  const mode = readMode(choice);
  return mode !== 'none' && mode !== 'auto';
}

function readMode(choice: ChatToolChoice | undefined) {
  if (choice === undefined) return 'auto';
  if (typeof choice === 'string') return choice;
  return choice.type === 'allowed_tools' ? choice.allowed_tools.mode : choice;
}

function decodeChoice(
  choice: ChatToolChoice | undefined,
  { parallel_tool_calls: isParallel }: ChatRequest,
): ToolChoice | undefined {
  const oneAtATime = isParallel === false ? { disable_parallel_tool_use: true } : {};
  const mode = readMode(choice);
  switch (mode) {
    case 'none':
      return { type: 'none' };
    case 'auto':
      return choice === undefined && isParallel !== false
        ? undefined
        : { type: 'auto', ...oneAtATime };
    case 'required':
      return { type: 'any', ...oneAtATime };
    default:
      return { type: 'tool', name: mode.function.name, ...oneAtATime };
  }
}
