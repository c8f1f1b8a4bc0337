import { isVendorCost } from '../../answers/hide-costs.ts';
import type { Json } from '../../json/upstream-json.ts';

/** What is re-encoded, the error of a chunk that reports none, and padding. */
const LEFT_OUT = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage'],
  ...['error', 'obfuscation'],
]);

/**
 * Writes what a chunk says under some of its names beside its choices, as further members of an
 * object. For example, vendors report their searches there.
 */
export function writeOthers(chunk: Json, names: readonly string[]): string {
  let written = '';
  for (const name of names) {
    const value = chunk[name];
    if (value == null || LEFT_OUT.has(name) || isVendorCost(name)) continue;
    written += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  return written;
}
