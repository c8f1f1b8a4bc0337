import type { ThinkingBlock } from '../thinking-block.ts';

/** What a model thought, as the native format has it. */
export type Thought = ThinkingBlock | { readonly type: 'redacted_thinking'; readonly data: string };

/** Writes `encrypted_content`. Undefined if nobody would take the thought back. */
export type SealThought = (thought: Thought) => string | undefined;

/** Reads it. Undefined if damaged or from elsewhere: the model then continues without it. */
export type OpenThought = (sealed: string) => Thought | undefined;
