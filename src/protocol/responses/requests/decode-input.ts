import { refuseField } from '../../chat/requests/refuse-field.ts';
import { isBlank } from '../../fields/is-blank.ts';
import type { InferenceRequest, Message } from '../../inference.ts';
import type { PartsRoom } from '../../json/find-excess.ts';
import { createPartsRoom, parseArguments } from '../../json/parse-arguments.ts';
import { readText } from '../../json/upstream-json.ts';
import { OWN_SIGNATURE } from '../../own-signature.ts';
import { isObject } from '../../schema.ts';
import { INPUT_FIELD } from '../answers/custom-input.ts';
import { answerOfThought } from '../answers/response-object.ts';
import { readAgentItem } from '../read-agent-item.ts';
import { refuseReference } from '../references.ts';
import type { OpenThought, Thought } from '../thought.ts';
import { decodeParts, decodeTexts } from './decode-content.ts';
import { Dialogue } from './dialogue.ts';
import { kindOfItem } from './request-schema.ts';
import type {
  InputCall,
  InputItem,
  InputMessage,
  InputOutput,
  InputThought,
  ResponsesRequest,
} from './responses-request.ts';
import type { ToolBook } from './tool-book.ts';

interface DecodedInput {
  readonly system: InferenceRequest['system'];
  readonly messages: readonly Message[];
  /** What an upstream of this format reads beside them. */
  readonly undecoded: readonly unknown[];
}

/** Translates the items into the native format, and takes the instructions out of them. */
export function decodeInput(
  { instructions, input }: ResponsesRequest,
  book: ToolBook,
  openThought: OpenThought | undefined,
): DecodedInput {
  const system = instructions == null || isBlank(instructions) ? [] : [instructions];
  const conversation = new Dialogue();
  const undecoded = conversation.replaced;
  const room = createPartsRoom();
  const items: readonly InputItem[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  for (const [i, came] of items.entries()) {
    const item = readAgentItem(came);
    const path = `input.${i}`;
    switch (kindOfItem(item)) {
      case 'message':
        addMessage(item as InputMessage, path, conversation, system);
        break;
      case 'function_call':
      case 'custom_tool_call':
        addCall(item as InputCall, conversation, book, { undecoded, room });
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        addOutput(item as InputOutput, path, conversation);
        break;
      case 'reasoning':
        conversation.addThoughts(
          decodeThoughts(item as InputThought, openThought),
          answerOfThought(item['id']),
        );
        break;
      case 'item_reference':
        throw refuseReference(String(item['id']));
    }
  }
  const messages = conversation.end();
  if (messages.length > 0) {
    return { system: system.join('\n') || undefined, messages, undecoded };
  }
  // A model needs a message to answer, so instructions alone become one.
  const text = system.join('\n');
  if (text !== '') {
    return { system: undefined, messages: [{ role: 'user', content: text }], undecoded };
  }
  throw refuseField({ path: 'input', kind: 'invalid', message: 'It should say something' });
}

/**
 * Thoughts that nobody sealed are in their summary, where chat upstreams are asked. Each text stays
 * as it is, because it may be a stand-in.
 */
function decodeThoughts(
  { encrypted_content: sealed, summary }: InputThought,
  openThought: OpenThought | undefined,
): readonly Thought[] {
  if (sealed) {
    const thought = openThought?.(sealed);
    return thought === undefined ? [] : [thought];
  }
  if (!Array.isArray(summary)) return [];
  const texts = summary.map((part) => (isObject(part) ? readText(part, 'text') : undefined));
  return texts
    .filter((text) => text !== undefined)
    .map((thinking) => ({ type: 'thinking', thinking, signature: OWN_SIGNATURE }));
}

function addMessage(
  { role, content }: InputMessage,
  path: string,
  conversation: Dialogue,
  system: string[],
): void {
  const said = content ?? '';
  const place = `${path}.content`;
  if (role === 'user') conversation.addUser(decodeParts(said, place));
  else if (role === 'assistant') {
    conversation.addAssistant(
      decodeTexts(said, place).map((text) => ({ type: 'text' as const, text })),
    );
  } else for (const text of decodeTexts(said, place)) system.push(text);
}

function addCall(
  call: InputCall,
  conversation: Dialogue,
  book: ToolBook,
  { undecoded, room }: { readonly undecoded: unknown[]; readonly room: PartsRoom },
): void {
  const name = book.nameOf(call.name, call.namespace);
  if (call.type === 'custom_tool_call') {
    conversation.addCall(call.call_id, name, { [INPUT_FIELD]: call.input ?? '' });
    return;
  }
  const { input, isPadded } = parseArguments(call.arguments ?? '', room);
  if (isPadded) undecoded.push(call.arguments);
  conversation.addCall(call.call_id, name, input);
}

function addOutput({ call_id: id, output }: InputOutput, path: string, conversation: Dialogue) {
  const isKnown = conversation.addResult(id, decodeParts(output, `${path}.output`));
  if (isKnown) return;
  throw refuseField({
    path: `${path}.call_id`,
    kind: 'invalid',
    message: 'No tool call found for this output',
  });
}
