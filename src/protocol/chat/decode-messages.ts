import type { ContentBlock, Message, ToolResultBlock, ToolUseBlock } from '../inference.ts';
import { isTooDeep } from '../is-too-deep.ts';
import { isObject } from '../schema.ts';
import type { AssistantMessage, ChatMessage, FunctionCall } from './chat-request.ts';
import { decodeParts, decodeTexts, isBlank } from './decode-content.ts';
import { refuseField } from './refuse-field.ts';

interface DecodedMessages {
  readonly system: string | undefined;
  readonly messages: readonly Message[];
}

/** The conversation in native words, with what instructs the model taken out of it. */
export function decodeMessages(chatMessages: readonly ChatMessage[]): DecodedMessages {
  const instructions: string[] = [];
  const conversation = createConversation();
  let functionCallId: string | undefined;

  for (const [i, message] of chatMessages.entries()) {
    const path = `messages.${i}`;
    switch (message.role) {
      case 'developer':
      case 'system':
        for (const { text } of decodeTexts(message.content)) instructions.push(text);
        break;
      case 'user':
        conversation.addUser(decodeUserContent(message.content, `${path}.content`));
        break;
      case 'assistant':
        // Calls of the deprecated kind have no id; one at a time, the latest is the one answered.
        if (message.function_call) functionCallId = `function_call_${i}`;
        conversation.addAssistant(decodeAssistantContent(message, path, functionCallId));
        break;
      case 'tool':
        conversation.addResult(message.tool_call_id, decodeTexts(message.content));
        break;
      case 'function':
        if (functionCallId === undefined) throw refuseOrphan(path);
        conversation.addResult(functionCallId, decodeTexts(message.content ?? ''));
    }
  }
  return {
    system: instructions.length > 0 ? instructions.join('\n') : undefined,
    messages: conversation.end(),
  };
}

/**
 * The native format wants the results of all tools at the head of the one message after their calls: whatever
 * the user says between them and the assistant's next turn follows them. Lists are as long as clients like,
 * too long to be spread into arguments.
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
    /** A tool may have nothing to say; a text of nothing is not how it says so. */
    addResult(id: string, content: readonly ContentBlock[]): void {
      results.push({
        type: 'tool_result',
        tool_use_id: id,
        ...(content.length > 0 && { content }),
      });
    },
    end,
  };
}

type UserMessage = Extract<ChatMessage, { role: 'user' }>;

/** Of no length where nothing is said. */
function decodeUserContent(content: UserMessage['content'], path: string): Message['content'] {
  if (typeof content === 'string') return isBlank(content) ? '' : content;
  return decodeParts(content, path);
}

function asBlocks(content: Message['content']): readonly ContentBlock[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}

function decodeAssistantContent(
  message: AssistantMessage,
  path: string,
  functionCallId: string | undefined,
): Message['content'] {
  const blocks: ContentBlock[] = decodeTexts(message.content ?? '');
  for (const [i, call] of (message.tool_calls ?? []).entries()) {
    blocks.push(decodeCall(call.id, call.function, `${path}.tool_calls.${i}.function`));
  }
  if (message.function_call && functionCallId !== undefined) {
    blocks.push(decodeCall(functionCallId, message.function_call, `${path}.function_call`));
  }
  return blocks;
}

function decodeCall(id: string, call: FunctionCall, path: string): ToolUseBlock {
  return {
    type: 'tool_use',
    id,
    name: call.name,
    input: parseArguments(call.arguments, `${path}.arguments`),
  };
}

function parseArguments(json: string, path: string): Readonly<Record<string, unknown>> {
  if (isBlank(json)) return {};
  if (isTooDeep(json)) {
    throw refuseField({ path, kind: 'invalid', message: 'Input is nested too deeply' });
  }
  let input: unknown;
  try {
    input = JSON.parse(json);
  } catch {
    throw refuseField({ path, kind: 'invalid', message: 'Input should be valid JSON' });
  }
  if (isObject(input)) return input;
  throw refuseField({ path, kind: 'invalid', message: 'Input should be a JSON object' });
}

function refuseOrphan(path: string): Error {
  const message = "A 'function' message should follow a message with 'function_call'";
  return refuseField({ path: `${path}.role`, kind: 'invalid', message });
}
