import { countUtf8Bytes } from '../../../lib/bytes/count-utf8-bytes.ts';
import { type Json, readObject } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';

/**
 * Counts what the choices of a chunk say in fields that no decoder reads, such as images or
 * thoughts in a form of the vendor's own. A client gets it all the same. A choice that says
 * something counts for at least one byte.
 */
export function countUnreadBytes(choices: readonly Json[]): number {
  let bytes = 0;
  for (const choice of choices) {
    const isDecoded = (choice['index'] ?? 0) === 0;
    for (const [name, value] of Object.entries(readObject(choice, 'delta'))) {
      if (name === 'role' || isNothing(value) || (isDecoded && isCall(name, value))) continue;
      bytes += Math.max(1, countTexts(value));
    }
  }
  return bytes;
}

export const isNothing = (value: unknown) =>
  value == null || value === '' || (Array.isArray(value) && value.length === 0);

/** Whether it is counted where it is decoded, which may be later. */
function isCall(name: string, value: unknown): boolean {
  if (name === 'function_call') return isObject(value);
  return name === 'tool_calls' && Array.isArray(value) && value.some(isObject);
}

/** The names of fields and the kinds of parts are not what a model says. */
function countTexts(value: unknown): number {
  if (typeof value === 'string') return countUtf8Bytes(value);
  if (typeof value !== 'object' || value === null) return String(value).length;
  let bytes = 0;
  for (const [name, item] of Object.entries(value)) if (name !== 'type') bytes += countTexts(item);
  return bytes;
}
