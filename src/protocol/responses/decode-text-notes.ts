import type { Json } from '../json/upstream-json.ts';
import type { TextNotes } from './text-notes.ts';

/** Returns what a part of a message says beside its text; `undefined` for most parts. */
export function decodeTextNotes(part: Json, phase: string | undefined): TextNotes | undefined {
  const { annotations, logprobs } = part;
  const isAnnotated = isFilled(annotations);
  const hasLogprobs = isFilled(logprobs);
  if (!isAnnotated && !hasLogprobs && phase === undefined) return undefined;
  return {
    ...(isAnnotated && { annotations }),
    ...(hasLogprobs && { logprobs }),
    ...(phase !== undefined && { phase }),
  };
}

function isFilled(list: unknown): list is readonly unknown[] {
  return Array.isArray(list) && list.length > 0;
}
