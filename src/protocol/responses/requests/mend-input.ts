import { isObject } from '../../schema.ts';
import type { UpstreamOpener } from '../../upstream-call.ts';
import { readAgentItem } from '../read-agent-item.ts';
import { openItem } from './open-item.ts';
import { kindOfItem } from './request-schema.ts';

type Fields = Readonly<Record<string, unknown>>;

const FILE_KINDS: readonly unknown[] = ['input_image', 'input_file'];

const OFFERED_TOOLS: readonly unknown[] = ['function', 'custom', 'namespace'];

/**
 * Returns the input with thoughts as their upstream takes them back, and without what no model here
 * may get. Returns the same list if all of it stays as it is.
 */
export function mendInput(input: unknown, reasoning: UpstreamOpener | undefined): unknown {
  if (!Array.isArray(input) || !input.some(needsMending)) return input;
  return input.flatMap((item: unknown): readonly unknown[] =>
    isObject(item) ? mendItem(readAgentItem(item), reasoning) : [item],
  );
}

function mendItem(item: Fields, reasoning: UpstreamOpener | undefined): readonly Fields[] {
  switch (kindOfItem(item)) {
    case 'unread':
      return [];
    case 'reasoning': {
      const opened = openItem(item, reasoning);
      return opened === undefined ? [] : [opened];
    }
    case 'additional_tools':
      return [{ ...item, tools: mendTools(item['tools']) }];
    default:
      return hasUnread(item) ? mendMessage(item) : [item];
  }
}

function mendMessage(message: Fields): readonly Fields[] {
  const { content } = message;
  const texts = Array.isArray(content) ? content.filter((part) => !isFile(part)) : [];
  return texts.length > 0 ? [{ ...message, content: texts }] : [];
}

/** Images and files count if a user shows them. In other messages only the texts are read. */
function hasUnread({ type, role, content }: Fields): boolean {
  if ((type != null && type !== 'message') || role === 'user') return false;
  return Array.isArray(content) && content.some(isFile);
}

function isFile(part: unknown): boolean {
  return isObject(part) && FILE_KINDS.includes(part['type']);
}

/** Leaves out tools that a vendor runs. Returns the same list if there are none. */
export function mendTools(tools: unknown): unknown {
  if (!Array.isArray(tools) || tools.every(isOffered)) return tools;
  return tools.flatMap((tool: unknown) => {
    if (!isObject(tool) || !OFFERED_TOOLS.includes(tool['type'])) return [];
    return [isOffered(tool) ? tool : { ...tool, tools: mendTools(tool['tools']) }];
  });
}

function isOffered(tool: unknown): boolean {
  if (!isObject(tool) || !OFFERED_TOOLS.includes(tool['type'])) return false;
  const { tools } = tool;
  return tool['type'] !== 'namespace' || !Array.isArray(tools) || tools.every(isOffered);
}

function needsMending(item: unknown): boolean {
  if (!isObject(item)) return false;
  const kind = kindOfItem(item);
  if (kind === 'reasoning' || kind === 'unread') return true;
  if (kind === 'additional_tools') return mendTools(item['tools']) !== item['tools'];
  return hasUnread(item) || readAgentItem(item) !== item;
}
