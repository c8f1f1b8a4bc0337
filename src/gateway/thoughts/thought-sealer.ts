import { isSealedThinking, isUnsigned } from '../../protocol/own-signature.ts';
import type { Thought } from '../../protocol/responses/thought.ts';
import type { CallSeal } from '../../protocol/sealed-reasoning.ts';

/**
 * Seals the thoughts of the upstream that answers. Each is sealed once, so that the kept answer and
 * the sent one have the same text.
 */
export interface ThoughtSealer {
  noteUpstream(upstream: string): void;
  sealThought(thought: Thought): string | undefined;
}

export function createThoughtSealer({ seal }: Pick<CallSeal, 'seal'>): ThoughtSealer {
  let upstream: string | undefined;
  let known: Map<Thought, string | undefined> | undefined;
  const sealNew = (thought: Thought) => {
    if (isSealedThinking(thought)) return thought.signature;
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
