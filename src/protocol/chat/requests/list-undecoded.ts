import {
  addObjects,
  addUndecoded,
  byType,
  type FieldPlace,
  type PlaceFinder,
  toFieldPlace,
} from '../../fields/add-undecoded.ts';
import { isObject } from '../../schema.ts';
import type { ChatRequest } from './chat-request.ts';
import { listUnoffered } from './decode-tools.ts';

const NOTHING: readonly never[] = Object.freeze([]);

const TEXT_PART = toFieldPlace({ type: 'whole', text: 'text' });
const IMAGE = toFieldPlace({ url: 'whole' });
const FILE = toFieldPlace({ file_data: 'whole' });
const textParts = byType({ text: TEXT_PART });
const userParts = byType({
  text: TEXT_PART,
  image_url: toFieldPlace({ type: 'whole', image_url: () => IMAGE }),
  file: toFieldPlace({ type: 'whole', file: () => FILE }),
});
const assistantParts = byType({ text: TEXT_PART, refusal: toFieldPlace({ type: 'whole' }) });

const CALLED = toFieldPlace({ name: 'whole', arguments: 'whole' });
const CALL = toFieldPlace({ type: 'whole', id: 'whole', function: () => CALLED });

const INSTRUCTIONS = toFieldPlace({ role: 'whole', content: textParts });
const MESSAGES: Readonly<Record<ChatRequest['messages'][number]['role'], FieldPlace>> = {
  developer: INSTRUCTIONS,
  system: INSTRUCTIONS,
  user: toFieldPlace({ role: 'whole', content: userParts }),
  assistant: toFieldPlace({
    role: 'whole',
    content: assistantParts,
    tool_calls: () => CALL,
    function_call: () => CALLED,
  }),
  tool: toFieldPlace({ role: 'whole', tool_call_id: 'whole', content: userParts }),
  function: toFieldPlace({ role: 'whole', content: 'text' }),
};

const DEFINITION = toFieldPlace({ name: 'whole', description: 'whole', parameters: 'whole' });
const TOOL = toFieldPlace({ type: 'whole', function: () => DEFINITION });

const PLAIN_FORMAT = toFieldPlace({ type: 'whole' });
/** The schema of the answer is decoded; a model reads the rest of its format as well. */
const NAMED_SCHEMA = toFieldPlace({ schema: 'whole', strict: 'whole' });
const findFormat: PlaceFinder = byType({
  text: PLAIN_FORMAT,
  json_object: PLAIN_FORMAT,
  json_schema: toFieldPlace({ type: 'whole', json_schema: () => NAMED_SCHEMA }),
});

/**
 * Lists what decoding leaves out of messages and tools, texts that it has left, the tools that are
 * not offered, and the unknown fields: an upstream of the chat format gets to read all of it. Most
 * requests have nothing of the kind.
 */
export function listUndecoded(
  chat: ChatRequest,
  unknownFields: readonly string[],
  left: readonly string[],
): readonly unknown[] {
  const undecoded: unknown[] = unknownFields.map((name) => chat[name]);
  for (const text of left) undecoded.push(text);
  if (chat['chat_template_kwargs'] != null) undecoded.push(chat['chat_template_kwargs']);
  if (chat['cache_control'] != null) undecoded.push({ cache_control: chat['cache_control'] });
  for (const message of chat.messages) addUndecoded(message, MESSAGES[message.role], undecoded);
  for (const tool of chat.tools ?? []) addUndecoded(tool, TOOL, undecoded);
  for (const definition of chat.functions ?? []) addUndecoded(definition, DEFINITION, undecoded);
  for (const definition of listUnoffered(chat)) undecoded.push(definition);
  for (const choice of [chat.tool_choice, chat.function_call]) {
    if (isObject(choice)) undecoded.push(choice);
  }
  if (chat.response_format != null) addObjects(chat.response_format, findFormat, undecoded);
  return undecoded.length > 0 ? undecoded : NOTHING;
}
