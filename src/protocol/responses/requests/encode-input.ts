import { fitToolName } from '../../fields/fit-tool-name.ts';
import { isBlank } from '../../fields/is-blank.ts';
import { nameKind, refuseKind } from '../../fields/refuse-kind.ts';
import type { ContentBlock, Message, ToolResultBlock } from '../../inference.ts';
import { writeInput } from '../../json/input-text.ts';
import type { Json } from '../../json/upstream-json.ts';
import type { ThinkingBlock } from '../../thinking-block.ts';
import type { UpstreamCall } from '../../upstream-call.ts';
import { encodeParts } from './encode-parts.ts';
import { openItem } from './open-item.ts';

type Call = Pick<UpstreamCall, 'accepts' | 'reasoning'>;

/** Translates the conversation into items. */
export function encodeInput(messages: readonly Message[], call: Call): readonly Json[] {
  const items: Json[] = [];
  for (const [i, { role, content }] of messages.entries()) {
    const path = `messages.${i}.content`;
    if (typeof content === 'string') {
      if (content !== '') items.push({ type: 'message', role, content });
    } else if (role === 'assistant') {
      addAnswer(content, { items, path, call });
    } else {
      addTurn(role, content, { items, path, call });
    }
  }
  return items;
}

interface Place {
  readonly items: Json[];
  readonly path: string;
  readonly call: Call;
}

/** The order of thoughts, texts and calls stays. */
function addAnswer(content: readonly ContentBlock[], { items, path, call }: Place): void {
  let texts: Json[] = [];
  const endMessage = () => {
    if (texts.length > 0) items.push({ type: 'message', role: 'assistant', content: texts });
    texts = [];
  };
  for (const [i, block] of content.entries()) {
    if (block.type === 'text') {
      if (!isBlank(block.text)) texts.push({ type: 'output_text', text: block.text });
      continue;
    }
    endMessage();
    if (block.type === 'tool_use') {
      const { id, name, input } = block;
      items.push({
        type: 'function_call',
        call_id: id,
        name: fitToolName(name),
        arguments: writeInput(input),
      });
    } else if (block.type === 'thinking') {
      const item = encodeThought(block, call);
      if (item !== undefined) items.push(item);
    } else if (block.type !== 'redacted_thinking') {
      throw refuseKind(`${path}.${i}`, `blocks of type ${nameKind(block.type)}`);
    }
  }
  endMessage();
}

function encodeThought({ thinking, signature }: ThinkingBlock, call: Call): Json | undefined {
  const summary = thinking === '' ? [] : [{ type: 'summary_text', text: thinking }];
  return openItem({ type: 'reasoning', summary, encrypted_content: signature }, call.reasoning);
}

function addTurn(
  role: Message['role'],
  content: readonly ContentBlock[],
  { items, path, call }: Place,
): void {
  const parts: Json[] = [];
  for (const [i, block] of content.entries()) {
    const place = `${path}.${i}`;
    if (block.type === 'tool_result') items.push(encodeResult(block, place, call));
    else for (const part of encodeParts([block], path, i, call.accepts)) parts.push(part);
  }
  if (parts.length > 0) items.push({ type: 'message', role, content: parts });
}

/** A result that is only text is written as one, because not every upstream takes parts here. */
function encodeResult(block: ToolResultBlock, path: string, { accepts }: Call): Json {
  const { tool_use_id: id, content, is_error: isError } = block;
  const lead = isError === true ? 'Error: ' : '';
  const type = 'function_call_output';
  if (typeof content === 'string') return { type, call_id: id, output: `${lead}${content}` };
  const parts = encodeParts(content ?? [], `${path}.content`, 0, accepts);
  if (parts.every((part) => part['type'] === 'input_text')) {
    const text = parts.map((part) => part['text']).join('\n');
    return { type, call_id: id, output: `${lead}${text}` };
  }
  const output = lead === '' ? parts : [{ type: 'input_text', text: lead.trim() }, ...parts];
  return { type, call_id: id, output };
}
