import type { Json } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import { joinSaid, readPart } from './content-parts.ts';

/**
 * Repairs what clients stumble over in chunks of a stream: a choice without an index, a role that
 * they do not know, a content that is a list of texts and thoughts, and a usage that may differ
 * from the charged one. Returns the same choices if nothing is wrong with them.
 */
export function mendChoices(choices: readonly Json[]): readonly Json[] {
  return choices.every(isRight) ? choices : choices.map(mendChoice);
}

function isRight({ index, delta, usage }: Json): boolean {
  if (index == null || usage != null) return false;
  return !isObject(delta) || (isRole(delta['role']) && !isListOfParts(delta['content']));
}

const isRole = (role: unknown) => role == null || role === 'assistant';

/** A list that has other parts too is kept: clients that know these parts get more from it. */
function isListOfParts(content: unknown): boolean {
  return Array.isArray(content) && content.every((part) => readPart(part) !== undefined);
}

function mendChoice(choice: Json): Json {
  const { index, delta, usage: _, ...others } = choice;
  return { ...others, index: index ?? 0, ...(isObject(delta) && { delta: mendDelta(delta) }) };
}

function mendDelta({ role, content, ...said }: Json): Json {
  const isList = isListOfParts(content);
  const text = isList ? joinSaid(content, 'text') : content;
  const thinking = isList ? joinSaid(content, 'thinking') : '';
  return {
    ...(isRole(role) && { role }),
    ...(text !== '' && { content: text }),
    ...said,
    ...(thinking !== '' && { reasoning_content: thinking }),
  };
}
