import { isBlank } from '../../fields/is-blank.ts';
import type {
  ContentBlock,
  InferenceRequest,
  Message,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '../../inference.ts';
import type { PartsRoom } from '../../json/find-excess.ts';
import { createPartsRoom, parseArguments } from '../../json/parse-arguments.ts';
import { endWithUser } from '../../native/requests/end-with-user.ts';
import { CallIds } from './call-ids.ts';
import type {
  AssistantMessage,
  ChatMessage,
  ChatRequest,
  FunctionCall,
  UserPart,
} from './chat-request.ts';
import { decodeMarker, decodeParts, decodeTexts, markLast } from './decode-content.ts';
import { refuseField } from './refuse-field.ts';

interface DecodedMessages {
  readonly system: InferenceRequest['system'];
  readonly messages: readonly Message[];
  /** What an upstream of this format reads beside them. */
  readonly undecoded: readonly string[];
}

/** Translates the conversation into the native format, and takes the instructions out of it. */
export function decodeMessages(chat: ChatRequest): DecodedMessages {
  const instructions: TextBlock[] = [];
  const conversation = createConversation();
  const undecoded: string[] = [];
  const ids = new CallIds();
  const notes = { undecoded, ids, room: createPartsRoom() };
  let functionCallId: string | undefined;

  for (const [i, message] of chat.messages.entries()) {
    const path = `messages.${i}`;
    switch (message.role) {
      case 'developer':
      case 'system':
        for (const text of markLast(decodeTexts(message.content), message)) instructions.push(text);
        break;
      case 'user':
        conversation.addUser(decodeUserContent(message, `${path}.content`));
        break;
      case 'assistant':
        // Calls of the deprecated kind have no id. They come one at a time, so a result answers the
        // latest.
        if (message.function_call) functionCallId = `function_call_${i}`;
        conversation.addAssistant(decodeAssistantContent(message, functionCallId, notes));
        break;
      case 'tool':
        conversation.addResult(
          ids.addResult(message.tool_call_id),
          decodeResult(message.content, `${path}.content`),
          message,
        );
        break;
      case 'function':
        if (functionCallId === undefined) throw refuseOrphan(path);
        conversation.addResult(
          ids.addResult(functionCallId),
          decodeTexts(message.content ?? ''),
          message,
        );
    }
  }
  const said = conversation.end();
  const messages = wantsPrefill(chat) ? said : endWithUser(said);
  if (messages.length > 0) return { system: joinInstructions(instructions), messages, undecoded };
  // A model needs a message to answer, so instructions alone become one.
  const content = joinInstructions(instructions);
  if (content !== undefined) {
    return { system: undefined, messages: [{ role: 'user', content }], undecoded };
  }
  const message = 'At least one message should say something';
  throw refuseField({ path: 'messages', kind: 'invalid', message });
}

/** Whether the model is to continue from its last words, as vendors that offer this call it. */
function wantsPrefill(chat: ChatRequest): boolean {
  const last = chat.messages.at(-1);
  if (last?.role !== 'assistant') return false;
  return last.prefix === true || last.partial === true || chat['continue_final_message'] === true;
}

/** Joins the instructions into one text, unless one of them is marked. */
function joinInstructions(instructions: readonly TextBlock[]): InferenceRequest['system'] {
  if (instructions.length === 0) return undefined;
  if (instructions.some((block) => block.cache_control != null)) return instructions;
  return instructions.map(({ text }) => text).join('\n');
}

/**
 * The native format wants the results of all tools at the head of the one message that follows
 * their calls. Everything else that the user says before the assistant's next turn comes after the
 * results. Lists may be of any length, too long to be spread into arguments.
 */
function createConversation() {
  const messages: Message[] = [];
  let results: ToolResultBlock[] = [];
  let afterResults: ContentBlock[] = [];

  const end = (): readonly Message[] => {
    if (results.length > 0) messages.push({ role: 'user', content: [...results, ...afterResults] });
    results = [];
    afterResults = [];
    return messages;
  };

  return {
    addUser(content: Message['content']): void {
      if (results.length > 0) {
        for (const block of asBlocks(content)) afterResults.push(block);
      } else if (content.length > 0) {
        messages.push({ role: 'user', content });
      }
    },
    addAssistant(content: Message['content']): void {
      end();
      if (content.length > 0) messages.push({ role: 'assistant', content });
    },
    addResult(id: string, content: readonly ContentBlock[], message: ChatMessage): void {
      results.push({
        type: 'tool_result',
        tool_use_id: id,
        // Some native upstreams refuse a result without content, and all refuse an empty block.
        content: content.length > 0 ? content : '',
        ...decodeMarker(message),
      });
    },
    end,
  };
}

type UserMessage = Extract<ChatMessage, { role: 'user' }>;

/** Returns an empty value if the message says nothing. */
function decodeUserContent(message: UserMessage, path: string): Message['content'] {
  const { content } = message;
  if (typeof content !== 'string') return markLast(decodeParts(content, path), message);
  if (isBlank(content)) return '';
  return message.cache_control == null ? content : markLast(decodeTexts(content), message);
}

function decodeResult(content: string | readonly UserPart[], path: string): ContentBlock[] {
  return typeof content === 'string' ? decodeTexts(content) : decodeParts(content, path);
}

function asBlocks(content: Message['content']): readonly ContentBlock[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}

interface CallNotes {
  readonly undecoded: string[];
  readonly ids: CallIds;
  readonly room: PartsRoom;
}

function decodeAssistantContent(
  message: AssistantMessage,
  functionCallId: string | undefined,
  notes: CallNotes,
): Message['content'] {
  const blocks: ContentBlock[] = decodeTexts(message.content ?? '');
  for (const call of message.tool_calls ?? []) {
    blocks.push(decodeCall(call.id, call.function, notes));
  }
  if (message.function_call && functionCallId !== undefined) {
    blocks.push(decodeCall(functionCallId, message.function_call, notes));
  }
  return markLast(blocks, message);
}

function decodeCall(id: string, call: FunctionCall, notes: CallNotes): ToolUseBlock {
  const { undecoded, ids, room } = notes;
  const { input, isPadded } = parseArguments(call.arguments, room);
  if (isPadded) undecoded.push(call.arguments);
  return { type: 'tool_use', id: ids.addCall(id), name: call.name, input };
}

function refuseOrphan(path: string): Error {
  const message = "A 'function' message should follow a message with 'function_call'";
  return refuseField({ path: `${path}.role`, kind: 'invalid', message });
}
