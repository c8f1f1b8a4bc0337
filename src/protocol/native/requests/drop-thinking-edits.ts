import { isObject } from '../../schema.ts';

const THINKING_EDIT = /^clear_thinking_/;

/**
 * Leaves out edits of the context that only a request with thinking may ask for, and the whole
 * field if it has no other edit.
 */
export function dropThinkingEdits(contextManagement: unknown): unknown {
  if (!isObject(contextManagement)) return contextManagement;
  const { edits } = contextManagement;
  if (!Array.isArray(edits)) return contextManagement;
  const left = edits.filter((edit) => !isThinkingEdit(edit));
  if (left.length === edits.length) return contextManagement;
  return left.length > 0 ? { ...contextManagement, edits: left } : undefined;
}

function isThinkingEdit(edit: unknown): boolean {
  return isObject(edit) && typeof edit['type'] === 'string' && THINKING_EDIT.test(edit['type']);
}
