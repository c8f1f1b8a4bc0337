import type { RequestOutline } from '../../protocol/inference.ts';
import { type CallSeal, isSealed, type ReasoningVault } from '../../protocol/sealed-reasoning.ts';

/** For the thoughts in one request, and in its answer. */
export function createCallSeal(
  vault: ReasoningVault,
  accountId: string,
  request: RequestOutline,
): Omit<CallSeal, 'noteUpstream'> {
  const { seal, open } = vault.sealOf(accountId);
  const last = findLastSealed(request);
  return { seal, open, origin: last && open(last)?.upstream };
}

function findLastSealed({ messages }: RequestOutline): string | undefined {
  for (let i = messages.length - 1; i >= 0; i--) {
    const { content } = messages[i] ?? {};
    if (content === undefined || typeof content === 'string') continue;
    const block = content.findLast((other) => other.type === 'thinking');
    if (block?.type === 'thinking' && isSealed(block.signature)) return block.signature;
  }
  return undefined;
}
