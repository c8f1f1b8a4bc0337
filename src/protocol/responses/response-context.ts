import type { ResponseProgress } from './answers/response-progress.ts';
import type { SealThought } from './thought.ts';

/** A tool that a model does not get under the name or kind that the client knows. */
export interface ToolName {
  readonly name: string;
  readonly namespace: string | undefined;
  /** Whether the client takes any text, which the model writes as the one field of an object. */
  readonly isCustom: boolean;
}

/** By the name that the model gets. All other tools are functions under their own names. */
export type ToolNames = ReadonlyMap<string, ToolName>;

export const NO_TOOL_NAMES: ToolNames = new Map();

/** What an answer repeats of its request, and needs to know of it. */
export interface ResponseTerms {
  /** Fields of the response, with a value for each that clients expect. */
  readonly echo: Readonly<Record<string, unknown>>;
  readonly toolNames: ToolNames;
  /** How many tools were left out, if any were, because only their vendor can run them. */
  readonly droppedTools?: number | undefined;
  /** Whether the client may refer to this answer later, if answers are kept. */
  readonly wantsStore: boolean;
  readonly previousId: string | undefined;
}

/** What only answers of this format need. */
export interface ResponseContext extends ResponseTerms {
  /** The ids of the response and of its items come from it, so that none is given twice. */
  readonly requestId: string;
  /**
   * When the answer was complete: the moment of the first call. A kept answer is written more than
   * once.
   */
  readonly completedSeconds: () => number;
  readonly sealThought?: SealThought;
  /** Absent if nobody but the encoder writes the answer. */
  readonly progress?: ResponseProgress;
  /** Whether the answer is kept. Absent until that is known. */
  readonly isKept?: boolean;
}
