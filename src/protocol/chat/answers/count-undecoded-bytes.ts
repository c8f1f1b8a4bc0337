import { countUtf8Bytes } from '../../../lib/bytes/count-utf8-bytes.ts';
import { type Json, readObject } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';
import { readPart } from './content-parts.ts';
import { isAskedFor } from './decode-chunks.ts';

/**
 * Counts what the choices of a chunk say in fields that no decoder reads, such as images or
 * thoughts in a form of the vendor's own. A client gets it all the same. A choice that says
 * something counts for at least one byte.
 */
export function countUndecodedBytes(choices: readonly Json[]): number {
  let bytes = 0;
  for (const choice of choices) {
    if (!isAskedFor(choice)) continue;
    for (const [name, value] of Object.entries(readObject(choice, 'delta'))) {
      const undecoded = leaveUndecoded(name, value);
      if (name === 'role' || isNothing(undecoded)) continue;
      bytes += Math.max(1, countTexts(undecoded));
    }
  }
  return bytes;
}

export const isNothing = (value: unknown) =>
  value == null || value === '' || (Array.isArray(value) && value.length === 0);

/** Returns what no decoder reads of a field. The rest is counted where it is decoded. */
function leaveUndecoded(name: string, value: unknown): unknown {
  switch (name) {
    case 'content':
      if (Array.isArray(value)) return value.filter((part) => readPart(part) === undefined);
      return typeof value === 'string' ? undefined : value;
    case 'reasoning_content':
    case 'reasoning':
    case 'refusal':
      return typeof value === 'string' ? undefined : value;
    case 'function_call':
      return isObject(value) ? undefined : value;
    case 'tool_calls':
      return Array.isArray(value) && value.some(isObject) ? undefined : value;
    default:
      return value;
  }
}

/** The names of fields and the kinds of parts are not what a model says. */
function countTexts(value: unknown): number {
  if (typeof value === 'string') return countUtf8Bytes(value);
  if (typeof value !== 'object' || value === null) return String(value).length;
  let bytes = 0;
  for (const [name, item] of Object.entries(value)) if (name !== 'type') bytes += countTexts(item);
  return bytes;
}
