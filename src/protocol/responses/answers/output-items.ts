import type { ToolName } from '../response-context.ts';
import type { TextNotes } from '../text-notes.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** Said if a model refused without a word of its own. */
export const REFUSAL_TEXT = 'The model declined to answer.';

/** What a message says. */
export interface MessageText {
  readonly text: string;
  readonly isRefusal?: boolean | undefined;
  readonly notes?: TextNotes | undefined;
}

/** `undefined` for a message that has not said anything yet. */
export function writeMessage(id: string, status: ItemStatus, said: MessageText | undefined) {
  const content = said === undefined ? [] : [writeSaid(said)];
  const phase = said?.notes?.phase;
  return {
    ...{ type: 'message', id, status, role: 'assistant', content },
    ...(phase !== undefined && { phase }),
  };
}

export function writeSaid({ text, isRefusal, notes }: MessageText) {
  return isRefusal === true ? { type: 'refusal', refusal: text } : writeTextPart(text, notes);
}

function writeTextPart(text: string, { annotations = [], logprobs = [] }: TextNotes = {}) {
  return { type: 'output_text', text, annotations, logprobs };
}

export function writeReasoning(
  id: string,
  status: ItemStatus,
  { thinking, sealed }: { readonly thinking: string; readonly sealed: string | undefined },
) {
  return {
    type: 'reasoning',
    id,
    summary: thinking === '' ? [] : [writeSummaryPart(thinking)],
    ...(sealed !== undefined && { encrypted_content: sealed }),
    status,
  };
}

export function writeSummaryPart(text: string) {
  return { type: 'summary_text', text };
}

/** A call as the client knows it; `input` is a JSON text, or any text for a custom tool. */
export function writeCall(
  id: string,
  status: ItemStatus,
  { callId, tool, input }: { readonly callId: string; readonly tool: ToolName; input: string },
) {
  const { name, namespace, isCustom } = tool;
  return {
    type: isCustom ? 'custom_tool_call' : 'function_call',
    id,
    call_id: callId,
    name,
    ...(namespace !== undefined && { namespace }),
    [isCustom ? 'input' : 'arguments']: input,
    status,
  };
}
