import type { ContentBlock, OutputBlock } from '../inference.ts';
import { findInputText } from '../json/input-text.ts';

type Block = ContentBlock | OutputBlock;

/** Writes blocks as JSON. The input of a call whose text was kept is written as this text. */
export function writeContent(content: readonly Block[]): string {
  if (!hasInputText(content)) return JSON.stringify(content);
  return `[${content.map(writeBlock).join(',')}]`;
}

export function hasInputText(content: readonly Block[]): boolean {
  return content.some((block) => textOf(block) !== undefined);
}

function writeBlock(block: Block): string {
  const text = textOf(block);
  if (text === undefined) return JSON.stringify(block);
  return `${JSON.stringify({ ...block, input: undefined }).slice(0, -1)},"input":${text}}`;
}

function textOf(block: Block): string | undefined {
  return block.type === 'tool_use' ? findInputText(block.input) : undefined;
}
