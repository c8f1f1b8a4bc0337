import { isUnsigned } from '../../protocol/own-signature.ts';
import { type CallSeal, isSealed } from '../../protocol/sealed-reasoning.ts';
import type { ThinkingBlock } from '../../protocol/thinking-block.ts';

/**
 * Seals the thoughts of the upstream that answers. Each is sealed once, so that the kept answer and
 * the sent one have the same text.
 */
export interface ThoughtSealer {
  noteUpstream(upstream: string): void;
  sealThought(thought: SealedThought): string | undefined;
}

type SealedThought = ThinkingBlock | { readonly type: 'redacted_thinking'; readonly data: string };

export function createThoughtSealer({ seal }: Pick<CallSeal, 'seal'>): ThoughtSealer {
  let upstream: string | undefined;
  let known: Map<SealedThought, string | undefined> | undefined;
  const sealNew = (thought: SealedThought) => {
    if (thought.type === 'thinking' && isSealed(thought.signature)) return thought.signature;
    const isSigned = thought.type !== 'thinking' || !isUnsigned(thought);
    return isSigned && upstream !== undefined ? seal(upstream, thought) : undefined;
  };
  return {
    noteUpstream(name) {
      upstream = name;
    },
    sealThought(thought) {
      known ??= new Map();
      if (!known.has(thought)) known.set(thought, sealNew(thought));
      return known.get(thought);
    },
  };
}
