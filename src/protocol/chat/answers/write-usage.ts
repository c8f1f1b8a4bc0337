import { isVendorCost } from '../../answers/hide-costs.ts';
import type { Usage } from '../../inference.ts';
import { type Json, readObject } from '../../json/upstream-json.ts';
import { encodeUsage } from './encode-usage.ts';

interface Counts {
  readonly [name: string]: number | Counts;
}

/** Writes our usage together with the upstream's unknown fields, also those of its details. */
export const writeUsage = (told: Json, usage: Usage) => writeCounts(told, encodeUsage(usage));

/**
 * Joins text, because a merged object would get a hidden class of its own, in the old generation.
 */
function writeCounts(told: Json, ours: Counts): string {
  let written = '';
  for (const name in ours) {
    const count = ours[name] ?? 0;
    const json = typeof count === 'number' ? count : writeCounts(readObject(told, name), count);
    written += `,"${name}":${json}`;
  }
  for (const name in told) {
    if (Object.hasOwn(ours, name) || isVendorCost(name)) continue;
    written += `,${JSON.stringify(name)}:${JSON.stringify(told[name])}`;
  }
  return `{${written.slice(1)}}`;
}
