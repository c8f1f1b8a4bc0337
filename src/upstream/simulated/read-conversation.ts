import type {
  ContentBlock,
  Message,
  TextBlock,
  ToolResultBlock,
} from '../../protocol/inference.ts';

/** The parts of a request that its answer is made from. */
export interface Conversation {
  /** The text of the last user message. */
  readonly userText: string;
  readonly toolResults: readonly ToolResult[];
}

interface ToolResult {
  readonly toolName: string;
  readonly text: string;
  readonly isError: boolean;
}

export function readConversation(messages: readonly Message[]): Conversation {
  const last = messages.findLast(({ role }) => role === 'user');
  const blocks = blocksOf(last?.content ?? '');
  return {
    userText: textOf(blocks),
    toolResults: blocks
      .filter((block): block is ToolResultBlock => block.type === 'tool_result')
      .map((result) => ({
        toolName: findToolName(messages, result.tool_use_id),
        text: textOf(blocksOf(result.content ?? '')),
        isError: result.is_error === true,
      })),
  };
}

function findToolName(messages: readonly Message[], id: string): string {
  for (const { content } of messages.toReversed()) {
    for (const block of blocksOf<ContentBlock>(content)) {
      if (block.type === 'tool_use' && block.id === id) return block.name;
    }
  }
  return 'tool';
}

function textOf(blocks: readonly ContentBlock[]): string {
  return blocks
    .filter((block): block is TextBlock => block.type === 'text')
    .map(({ text }) => text)
    .join('\n');
}

export function blocksOf<Block extends ContentBlock>(
  content: string | readonly Block[],
): readonly (Block | { readonly type: 'text'; readonly text: string })[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
