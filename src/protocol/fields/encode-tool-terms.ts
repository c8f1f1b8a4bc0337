import type { InferenceRequest, Tool, ToolChoice } from '../inference.ts';
import { fitToolName } from './fit-tool-name.ts';
import { nameKind, refuseKind } from './refuse-kind.ts';

/** How a format of OpenAI writes a tool, and the choice of one. */
interface ToolSpelling<Written, Chosen> {
  /** The name is the tool's, or stands for one that is too long. */
  write(tool: Tool, name: string): Written;
  choose(name: string): Chosen;
}

/** Writes the tools and the tool choice. Without tools there is nothing to choose. */
export function encodeToolTerms<Written, Chosen>(
  { tools, toolChoice }: Pick<InferenceRequest, 'tools' | 'toolChoice'>,
  spelling: ToolSpelling<Written, Chosen>,
) {
  if (tools.length === 0) return {};
  const isOneAtATime =
    toolChoice !== undefined && toolChoice.type !== 'none' && toolChoice.disable_parallel_tool_use;
  return {
    tools: tools.map((tool, i) => spelling.write(tool, fitName(tool, i))),
    ...(toolChoice !== undefined && { tool_choice: encodeChoice(toolChoice, spelling) }),
    ...(isOneAtATime === true && { parallel_tool_calls: false }),
  };
}

/** Only a vendor's own models know its tools, and no other tool is without a name. */
function fitName({ name, type }: Tool, i: number): string {
  if (name !== undefined && (type == null || type === 'custom')) return fitToolName(name);
  throw refuseKind(`tools.${i}`, `tools of type ${nameKind(type)}`);
}

function encodeChoice<Chosen>(
  choice: ToolChoice,
  { choose }: Pick<ToolSpelling<unknown, Chosen>, 'choose'>,
) {
  switch (choice.type) {
    case 'any':
      return 'required';
    case 'tool':
      return choose(fitToolName(choice.name));
    default:
      return choice.type;
  }
}
