import type { ThinkingBlock } from './thinking-block.ts';

/**
 * What a model thought goes back to it with the next request, through a client that cannot read it:
 *
 *   upstream ──▶ seal ──▶ client ──▶ open ──▶ the same upstream
 *
 * A sealed text names its upstream, its model and its account. Nobody else can make, change or read
 * it.
 */

/** One thought, as its upstream takes it back. */
export type VendorThought =
  | ThinkingBlock
  | { readonly type: 'redacted_thinking'; readonly data: string }
  /** An item of the responses format. */
  | { readonly type: 'reasoning'; readonly id: string | undefined; readonly encrypted: string };

interface ThoughtOrigin {
  /** The name of the upstream. */
  readonly upstream: string;
  /**
   * The pinned id of the model. Thoughts that a node of the release before has sealed name none.
   */
  readonly model?: string | undefined;
}

export interface OpenedThought extends ThoughtOrigin {
  readonly reasoning: VendorThought;
}

/** A thought from which the model continues its turn. */
export interface BoundThought {
  readonly sealed: string;
  /** `undefined` if it cannot be opened. */
  readonly opened: OpenedThought | undefined;
}

/** Returns `undefined` for a thought that is too long to be carried. */
export type Sealer = (reasoning: VendorThought) => string | undefined;
/** Returns `undefined` for a text that is damaged, forged, too old or of another account. */
export type Opener = (sealed: string) => OpenedThought | undefined;

/** Seals and opens the thoughts of one account. */
interface ReasoningSeal {
  seal(origin: ThoughtOrigin, reasoning: VendorThought): string | undefined;
  readonly open: Opener;
  /**
   * Whether there is a secret yet. Without one, a text that does not open says nothing about who
   * made it.
   */
  isReady(): boolean;
}

/** For the thoughts in one request, and in its answer. */
export interface CallSeal {
  seal(upstream: string, reasoning: VendorThought): string | undefined;
  readonly open: Opener;
  /** Where the last of the sealed thoughts in the request came from, if there are any. */
  readonly origin: string | undefined;
  /**
   * The thoughts from which the model continues: an upstream that thinks must be able to read
   * them.
   */
  readonly bound: readonly BoundThought[];
  /** Called with the name of each upstream that is asked, before it answers. */
  readonly noteUpstream: ((upstream: string) => void) | undefined;
}

export interface ReasoningVault {
  sealOf(accountId: string): ReasoningSeal;
}

/** All sealed texts begin with it, so they are distinguished from signatures of vendors. */
export const SEALED_BEGINNING = 'tg1.';

export function isSealed(text: string): boolean {
  return text.startsWith(SEALED_BEGINNING);
}

/** Takes a sealed thought as it is. It is opened when it is known who asks, and of whom. */
export function keepSealed(sealed: string): ThinkingBlock | undefined {
  return isSealed(sealed) ? { type: 'thinking', thinking: '', signature: sealed } : undefined;
}
