import type { ContentBlock, Message } from '../inference.ts';
import { Refusal } from '../refusals.ts';
import { isObject } from '../schema.ts';
import { checkCacheMarkers } from './check-cache-markers.ts';
import { checkToolTurns } from './check-tool-turns.ts';
import { isThinkingOn, type NativeRequest } from './native-request.ts';

/** Of the text that the image is sent as, not of the image. */
const IMAGE_BYTES_MAX = 5 * 1024 * 1024;

/** The rules over several fields, for a body that its schema lets through. Clients match on the texts. */
export function checkRequest(body: NativeRequest): void {
  if (body.messages.length === 0) {
    throw refuse('messages', 'messages: at least one message is required');
  }
  checkStopSequences(body);
  checkThinking(body);
  checkTools(body);
  checkSystem(body);
  for (const [i, message] of body.messages.entries()) {
    checkMessage(message, i, i === body.messages.length - 1);
  }
  checkPrefill(body.messages);
  checkToolTurns(body.messages);
  checkCacheMarkers(body);
}

function refuse(param: string, message: string): Refusal {
  return new Refusal('invalid_request', message, { param });
}

const isBlank = (text: string) => text.trim() === '';

function checkStopSequences({ stop_sequences: stopSequences }: NativeRequest): void {
  if (stopSequences?.some(isBlank)) {
    throw refuse(
      'stop_sequences',
      'stop_sequences: each stop sequence must contain non-whitespace',
    );
  }
}

function checkThinking(body: NativeRequest): void {
  if (!isThinkingOn(body)) return;
  const budget = body.thinking?.type === 'enabled' ? body.thinking.budget_tokens : undefined;
  if (budget !== undefined && budget >= body.max_tokens) {
    throw refuse('max_tokens', '`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  if ((body.temperature ?? 1) !== 1) {
    throw refuse('temperature', '`temperature` may only be set to 1 when thinking is enabled.');
  }
}

function checkTools({ tools, tool_choice: choice }: NativeRequest): void {
  const names = new Set((tools ?? []).map((tool) => tool.name));
  if (names.size < (tools ?? []).length) {
    throw refuse('tools', 'tools: Tool names must be unique.');
  }
  if (choice == null) return;
  if (names.size === 0) {
    throw refuse('tool_choice', 'tool_choice may only be specified while providing tools.');
  }
  if (choice.type === 'tool' && !names.has(choice.name)) {
    throw refuse('tool_choice', `Tool '${choice.name}' not found in provided tools`);
  }
}

function checkSystem({ system }: NativeRequest): void {
  if (Array.isArray(system)) for (const block of system) checkText(block.text, 'system');
}

function checkMessage({ role, content }: Message, i: number, isLast: boolean): void {
  if (content.length === 0 && !(isLast && role === 'assistant')) {
    throw refuse(
      `messages.${i}`,
      `messages.${i}: all messages must have non-empty content except for the optional final assistant message`,
    );
  }
  if (typeof content === 'string') {
    if (content !== '') checkText(content, 'messages');
    return;
  }
  for (const [j, block] of content.entries()) {
    checkRole(block, role, `messages.${i}`);
    checkBlock(block, `messages.${i}.content.${j}`);
  }
}

function checkRole(block: ContentBlock, role: Message['role'], path: string): void {
  if (role === 'system' && block.type !== 'text') {
    throw refuse(path, `${path}: \`system\` messages can only have \`text\` blocks`);
  }
  if (block.type === 'tool_use' && role !== 'assistant') {
    throw refuse(path, `${path}: \`tool_use\` blocks can only be in \`assistant\` messages`);
  }
  if (block.type === 'tool_result' && role !== 'user') {
    throw refuse(path, `${path}: \`tool_result\` blocks can only be in \`user\` messages`);
  }
}

function checkBlock(block: ContentBlock, path: string): void {
  if (block.type === 'text') checkText(block.text, 'messages');
  if (block.type === 'image') checkImage(block, path);
  if (block.type === 'tool_result' && Array.isArray(block.content)) {
    for (const [k, inner] of block.content.entries()) {
      if (inner.type === 'image') checkImage(inner, `${path}.content.${k}`);
    }
  }
}

function checkText(text: string, param: string): void {
  if (text === '') throw refuse(param, `${param}: text content blocks must be non-empty`);
  if (isBlank(text)) {
    throw refuse(param, `${param}: text content blocks must contain non-whitespace text`);
  }
}

function checkImage(image: Readonly<Record<string, unknown>>, path: string): void {
  const source = image['source'];
  if (!isObject(source) || source['type'] !== 'base64') return;
  const { length } = String(source['data']);
  if (length > IMAGE_BYTES_MAX) {
    const param = `${path}.image.source.base64`;
    throw refuse(
      param,
      `${param}: image exceeds 5 MB maximum: ${length} bytes > ${IMAGE_BYTES_MAX} bytes`,
    );
  }
}

function checkPrefill(messages: readonly Message[]): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return;
  const block = typeof last.content === 'string' ? undefined : last.content.at(-1);
  const text = typeof last.content === 'string' ? last.content : readText(block);
  if (text !== text.trimEnd()) {
    throw refuse(
      'messages',
      'messages: final assistant content cannot end with trailing whitespace',
    );
  }
}

const readText = (block: ContentBlock | undefined) => (block?.type === 'text' ? block.text : '');
