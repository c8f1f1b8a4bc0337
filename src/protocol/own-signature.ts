import type { ContentBlock } from './inference.ts';
import type { ThinkingBlock } from './thinking-block.ts';

/**
 * The signature for thinking from upstreams that do not sign it. Clients take thinking without a
 * signature for text; a vendor refuses thinking with any signature but its own.
 */
export const OWN_SIGNATURE = 'tollgate';

/** Whether this is thinking that no native vendor takes back. */
export function isUnsigned(block: ContentBlock): block is ThinkingBlock {
  if (block.type !== 'thinking') return false;
  return (block.signature ?? '') === '' || block.signature === OWN_SIGNATURE;
}
