import { nameKind, refuseKind } from '../../fields/refuse-kind.ts';
import type { InferenceRequest, Tool, ToolChoice } from '../../inference.ts';

/** Writes the tools and the tool choice. Without tools there is nothing to choose. */
export function encodeTools({ tools, toolChoice }: Pick<InferenceRequest, 'tools' | 'toolChoice'>) {
  if (tools.length === 0) return {};
  const isOneAtATime =
    toolChoice !== undefined && toolChoice.type !== 'none' && toolChoice.disable_parallel_tool_use;
  return {
    tools: tools.map(encodeTool),
    ...(toolChoice !== undefined && { tool_choice: encodeChoice(toolChoice) }),
    ...(isOneAtATime === true && { parallel_tool_calls: false }),
  };
}

/** Refuses a vendor's own tools. Without `strict`, upstreams take only part of JSON Schema. */
function encodeTool({ name, description, input_schema: parameters, type }: Tool, i: number) {
  if (type != null && type !== 'custom') {
    throw refuseKind(`tools.${i}`, `tools of type ${nameKind(type)}`);
  }
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    parameters,
    strict: false,
  };
}

function encodeChoice(choice: ToolChoice) {
  switch (choice.type) {
    case 'any':
      return 'required';
    case 'tool':
      return { type: 'function', name: choice.name };
    default:
      return choice.type;
  }
}
