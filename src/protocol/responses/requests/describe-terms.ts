import type { ResponseTerms } from '../response-context.ts';
import type { ResponsesRequest, ToolDefinition } from './responses-request.ts';
import type { ToolBook } from './tool-book.ts';

/** What an answer repeats of its request. Clients expect a value in each of these fields. */
export function describeTerms(body: ResponsesRequest, book: ToolBook): ResponseTerms {
  return {
    echo: describeEcho(body),
    toolNames: book.names,
    droppedTools: book.hostedCount || undefined,
    wantsStore: body.store !== false,
    previousId: body.previous_response_id ?? undefined,
  };
}

/** Nothing is spread into it, which would take longer than all else here. */
function describeEcho(body: ResponsesRequest): ResponseTerms['echo'] {
  const echo: Record<string, unknown> = {
    background: false,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body['max_tool_calls'] ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: {
      effort: body.reasoning?.effort ?? null,
      summary: body.reasoning?.summary ?? null,
    },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: 'default',
    temperature: body.temperature ?? 1,
    text: describeText(body.text),
    tool_choice: body.tool_choice ?? 'auto',
    tools: (body.tools ?? []).map(describeTool),
    top_logprobs: 0,
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    presence_penalty: readNumber(body['presence_penalty']),
    frequency_penalty: readNumber(body['frequency_penalty']),
  };
  if (body.user != null) echo['user'] = body.user;
  return echo;
}

function describeText(text: ResponsesRequest['text']): object {
  const format = text?.format ?? { type: 'text' };
  return text?.verbosity == null ? { format } : { format, verbosity: text.verbosity };
}

function describeTool(tool: ToolDefinition): object {
  if (tool.type !== 'function') return tool;
  const { description = null, parameters = null, strict = null } = tool;
  return { ...tool, description, parameters, strict };
}

function readNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
