import { isBlank } from '../../fields/is-blank.ts';
import type { ContentBlock, Message } from '../../inference.ts';
import { Refusal } from '../../refusals.ts';
import { isObject } from '../../schema.ts';
import { checkCacheMarkers } from './check-cache-markers.ts';
import { checkToolTurns } from './check-tool-turns.ts';
import { sharesBudget } from './decode-headers.ts';
import { isThinkingOn, type NativeRequest } from './native-request.ts';

/** Counts the base64 text of an image, not the decoded image. */
const IMAGE_BYTES_MAX = 5 * 1024 * 1024;

/**
 * Checks the rules that span several fields, for a body that its schema accepts. Clients match on
 * the texts.
 */
export function checkRequest(body: NativeRequest, betas: readonly string[]): void {
  if (body.messages.length === 0) {
    throw refuse('messages', 'messages: at least one message is required');
  }
  checkStopSequences(body);
  checkThinking(body, betas);
  checkTools(body);
  checkSystem(body);
  const last = body.messages.length - 1;
  body.messages.forEach((message, i) => {
    checkMessage(message, i, i === last);
  });
  checkPrefill(body.messages);
  checkToolTurns(body.messages);
  checkCacheMarkers(body);
}

function refuse(param: string, message: string): Refusal {
  return new Refusal('invalid_request', message, { param });
}

function checkStopSequences({ stop_sequences: stopSequences }: NativeRequest): void {
  if (stopSequences?.some(isBlank)) {
    throw refuse(
      'stop_sequences',
      'stop_sequences: each stop sequence must contain non-whitespace',
    );
  }
}

function checkThinking(body: NativeRequest, betas: readonly string[]): void {
  if (!isThinkingOn(body)) return;
  const budget = body.thinking?.type === 'enabled' ? body.thinking.budget_tokens : undefined;
  const isOver = budget !== undefined && budget >= body.max_tokens;
  if (isOver && !sharesBudget(betas, body.tools ?? [])) {
    throw refuse('max_tokens', '`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  if ((body.temperature ?? 1) !== 1) {
    throw refuse('temperature', '`temperature` may only be set to 1 when thinking is enabled.');
  }
}

function checkTools({ tools, tool_choice: choice }: NativeRequest): void {
  if (tools == null && choice == null) return;
  const offered = tools ?? [];
  const named = offered.flatMap(({ name }) => name ?? []);
  const names = new Set(named);
  if (names.size < named.length) {
    throw refuse('tools', 'tools: Tool names must be unique.');
  }
  if (choice == null) return;
  if (offered.length === 0) {
    throw refuse('tool_choice', 'tool_choice may only be specified while providing tools.');
  }
  // A tool without a name is a set of tools, and may have the chosen one in it.
  const areAllNamed = named.length === offered.length;
  if (choice.type === 'tool' && areAllNamed && !names.has(choice.name)) {
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
    // What a model wrote itself is left out if it is blank.
    if (role !== 'assistant') checkText(content, 'messages');
    return;
  }
  content.forEach((block, j) => {
    if (role === 'system' && block.type !== 'text') {
      throw refuseRole(i, '`system` messages can only have `text` blocks');
    }
    checkBlock(block, role, i, j);
  });
}

function checkBlock(block: ContentBlock, role: Message['role'], i: number, j: number): void {
  switch (block.type) {
    case 'text':
      if (role !== 'assistant') checkText(block.text, 'messages');
      return;
    case 'image':
      checkImage(block, `messages.${i}.content.${j}`);
      return;
    case 'tool_use':
      if (role !== 'assistant') {
        throw refuseRole(i, '`tool_use` blocks can only be in `assistant` messages');
      }
      return;
    case 'tool_result':
      if (role !== 'user') {
        throw refuseRole(i, '`tool_result` blocks can only be in `user` messages');
      }
      if (Array.isArray(block.content)) checkImages(block.content, `messages.${i}.content.${j}`);
  }
}

function refuseRole(i: number, message: string): Refusal {
  const path = `messages.${i}`;
  return refuse(path, `${path}: ${message}`);
}

function checkImages(blocks: readonly ContentBlock[], path: string): void {
  blocks.forEach((block, k) => {
    if (block.type === 'image') checkImage(block, `${path}.content.${k}`);
  });
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
