import { isVendorCost } from '../../answers/hide-costs.ts';
import type { Usage } from '../../inference.ts';
import { type Json, readObject } from '../../json/upstream-json.ts';
import { encodeUsage } from './encode-usage.ts';

interface Counts {
  readonly [name: string]: number | Counts;
}

/** Writes our usage together with the upstream's unknown fields, also those of its details. */
export const writeUsage = (reported: Json, usage: Usage) =>
  writeCounts(reported, encodeUsage(usage));

/**
 * Joins text, because a merged object would get a hidden class of its own, in the old generation.
 */
function writeCounts(reported: Json, ours: Counts): string {
  let written = '';
  for (const name in ours) {
    const count = ours[name] ?? 0;
    const json = typeof count === 'number' ? count : writeCounts(readObject(reported, name), count);
    written += `,"${name}":${json}`;
  }
  for (const name in reported) {
    if (Object.hasOwn(ours, name) || isVendorCost(name)) continue;
    written += `,${JSON.stringify(name)}:${JSON.stringify(reported[name])}`;
  }
  return `{${written.slice(1)}}`;
}
