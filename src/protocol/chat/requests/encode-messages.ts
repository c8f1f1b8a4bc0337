import { fitToolName } from '../../fields/fit-tool-name.ts';
import { isBlank } from '../../fields/is-blank.ts';
import { nameKind, refuseKind } from '../../fields/refuse-kind.ts';
import type {
  ContentBlock,
  InferenceRequest,
  Message,
  ToolResultBlock,
  ToolUseBlock,
} from '../../inference.ts';
import { writeInput } from '../../json/input-text.ts';
import { isUnsigned } from '../../own-signature.ts';
import type { UpstreamCall } from '../../upstream-call.ts';
import type { AssistantMessage, ChatMessage, UserPart } from './chat-request.ts';
import { encodeBlock, encodeParts, isText, joinTexts } from './encode-content.ts';

/** Google's own sign for a call that another model made, or whose signature is lost. */
const UNSIGNED = { google: { thought_signature: 'skip_thought_signature_validator' } };

/**
 * Translates the conversation into the chat format, with the instructions at its head. The
 * templates of many models take a system message nowhere else, so later ones are texts of the user.
 */
export function encodeMessages(
  { system, messages }: Pick<InferenceRequest, 'system' | 'messages'>,
  accepts: UpstreamCall['accepts'],
): readonly ChatMessage[] {
  const encoded: ChatMessage[] = [];
  // Results must directly follow their calls. Everything else before the next answer comes after
  // them.
  const said = new UserTurn();
  const endTurn = () => {
    const message = said.end();
    if (message !== undefined) encoded.push(message);
  };

  const { instructions, messagesRead } = readInstructions(system, messages);
  if (instructions !== '') encoded.push({ role: 'system', content: instructions });
  for (const [i, { role, content }] of messages.entries()) {
    if (i < messagesRead) continue;
    const path = `messages.${i}.content`;
    if (role === 'system') {
      said.add([{ type: 'text', text: joinContent(content) }]);
    } else if (role === 'assistant') {
      endTurn();
      const answer = encodeAnswer(content, path, accepts);
      if (answer !== undefined) encoded.push(answer);
    } else {
      const turn = encodeTurn(content, path, accepts);
      for (const result of turn.results) encoded.push(result);
      for (const parts of turn.said) said.add(parts);
    }
  }
  endTurn();
  return encoded;
}

/**
 * All that is said between two answers, in one message: some templates refuse two messages of a
 * user in a row.
 */
class UserTurn {
  #parts: UserPart[] = [];
  #isPlain = true;

  /** Adds the parts of one message. */
  add(parts: readonly UserPart[]): void {
    const [first] = parts;
    if (first === undefined) return;
    if (parts.length > 1 || first.type !== 'text') this.#isPlain = false;
    for (const part of parts) this.#parts.push(part);
  }

  end(): ChatMessage | undefined {
    const parts = this.#parts;
    if (parts.length === 0) return undefined;
    const content = this.#isPlain
      ? parts
          .filter(isText)
          .map(({ text }) => text)
          .join('\n\n')
      : parts;
    this.#parts = [];
    this.#isPlain = true;
    return { role: 'user', content };
  }
}

function readInstructions(
  system: InferenceRequest['system'],
  messages: readonly Message[],
): { instructions: string; messagesRead: number } {
  const texts = system === undefined || system.length === 0 ? [] : [joinContent(system)];
  let messagesRead = 0;
  for (const { role, content } of messages) {
    if (role !== 'system') break;
    texts.push(joinContent(content));
    messagesRead += 1;
  }
  return { instructions: texts.join('\n'), messagesRead };
}

function joinContent(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return joinTexts(content.filter((block) => block.type === 'text'));
}

/**
 * Returns `undefined` if a message has neither text nor calls, because upstreams refuse such a
 * message.
 */
function encodeAnswer(
  content: Message['content'],
  path: string,
  accepts: UpstreamCall['accepts'],
): AssistantMessage | undefined {
  if (typeof content === 'string') {
    return content === '' ? undefined : { role: 'assistant', content };
  }
  const calls: ToolUseBlock[] = [];
  let text = '';
  for (const [i, block] of content.entries()) {
    if (block.type === 'text') text += block.text;
    else if (block.type === 'tool_use') calls.push(block);
    else if (block.type !== 'thinking' && block.type !== 'redacted_thinking') {
      throw refuseKind(`${path}.${i}`, `blocks of type ${nameKind(block.type)}`);
    }
  }
  if (isBlank(text)) text = '';
  if (text === '' && calls.length === 0) return undefined;
  const hasCalls = calls.length > 0;
  const thoughts = accepts?.has('reasoning_content') === true ? readThoughts(content) : undefined;
  // Models that think refuse calls without this field, even where nothing was thought.
  const saysThoughts = thoughts !== undefined && (thoughts !== '' || hasCalls);
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(saysThoughts && { reasoning_content: thoughts }),
    ...(hasCalls && { tool_calls: encodeCalls(calls, accepts) }),
  };
}

/** Thinking that a native vendor signed is only for the vendor's own models. */
function readThoughts(content: readonly ContentBlock[]): string {
  return content
    .filter(isUnsigned)
    .map(({ thinking }) => thinking)
    .join('');
}

/**
 * Gemini signs the first call of an answer for the thoughts behind it, and refuses a turn whose
 * call has lost its signature. Other formats have no place for that.
 */
function encodeCalls(calls: readonly ToolUseBlock[], accepts: UpstreamCall['accepts']) {
  const encoded = calls.map(encodeCall);
  if (accepts?.has('thought_signature') !== true) return encoded;
  return encoded.map((call, i) => (i === 0 ? { ...call, extra_content: UNSIGNED } : call));
}

const encodeCall = ({ id, name, input }: ToolUseBlock) => ({
  id,
  type: 'function',
  function: { name: fitToolName(name), arguments: writeInput(input) },
});

interface EncodedTurn {
  readonly results: readonly ChatMessage[];
  /** The parts of each thing that is said beside them. */
  readonly said: readonly (readonly UserPart[])[];
}

function encodeTurn(
  content: Message['content'],
  path: string,
  accepts: UpstreamCall['accepts'],
): EncodedTurn {
  if (typeof content === 'string')
    return { results: [], said: [[{ type: 'text', text: content }]] };
  const results: ChatMessage[] = [];
  const said: UserPart[][] = [];
  const parts: UserPart[] = [];
  for (const [i, block] of content.entries()) {
    if (block.type === 'tool_result') {
      const { result, shown } = encodeResult(block, `${path}.${i}.content`, accepts);
      results.push(result);
      said.push(shown);
    } else {
      for (const part of encodeBlock(block, `${path}.${i}`, accepts)) parts.push(part);
    }
  }
  return { results, said: [...said, parts] };
}

/** A tool's result is only text in this format. Anything else is shown by the user. */
function encodeResult(
  block: ToolResultBlock,
  path: string,
  accepts: UpstreamCall['accepts'],
): { result: ChatMessage; shown: UserPart[] } {
  const { tool_use_id: id, content, is_error: isError } = block;
  const parts =
    typeof content === 'string'
      ? [{ type: 'text' as const, text: content }]
      : encodeParts(content ?? [], path, accepts);
  const text = joinTexts(parts.filter(isText));
  const files = parts.filter((part) => !isText(part));
  const intro = { type: 'text' as const, text: `Shown by the call ${id}:` };
  return {
    result: { role: 'tool', tool_call_id: id, content: isError === true ? `Error: ${text}` : text },
    shown: files.length > 0 ? [intro, ...files] : [],
  };
}
