import type { ContentBlock } from './inference.ts';
import { isSealed, type VendorThought } from './sealed-reasoning.ts';
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

type SealedBlock = ThinkingBlock & { readonly signature: string };

/** Whether this is thinking whose signature we sealed. */
export function isSealedThinking(block: ContentBlock | VendorThought): block is SealedBlock {
  return block.type === 'thinking' && isSealed(block.signature ?? '');
}
