import type { Json } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';

/**
 * Repairs what clients stumble over in the blocks of a whole answer: thinking without a
 * signature, and `null` for citations. Returns the same blocks if nothing is wrong with them.
 */
export function mendBlocks(blocks: readonly unknown[]): readonly unknown[] {
  const mended = blocks.map((block) => (isObject(block) ? mendBlock(block) : block));
  return mended.every((block, i) => block === blocks[i]) ? blocks : mended;
}

/** Does the same for the event that begins a block. */
export function mendBlockStart(payload: Json): Json {
  const { content_block: block } = payload;
  if (!isObject(block)) return payload;
  const mended = mendBlock(block);
  return mended === block ? payload : { ...payload, content_block: mended };
}

function mendBlock(block: Json): Json {
  if (block['type'] === 'thinking' && block['signature'] == null)
    return { ...block, signature: '' };
  if (block['citations'] !== null) return block;
  const { citations: _, ...others } = block;
  return others;
}
