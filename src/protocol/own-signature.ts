import type { ContentBlock, ThinkingBlock } from './inference.ts';

/**
 * On what an upstream thought that signs nothing. Clients take thoughts without a signature for something that was
 * said; a vendor refuses those with any signature but its own.
 */
export const OWN_SIGNATURE = 'tollgate';

/** A thought that no native vendor takes back. */
export function isUnsigned(block: ContentBlock): block is ThinkingBlock {
  if (block.type !== 'thinking') return false;
  return block.signature === '' || block.signature === OWN_SIGNATURE;
}
