import { type Json, readObject } from '../json/upstream-json.ts';
import { hideCosts } from './hide-costs.ts';

interface Counts {
  readonly [name: string]: number | string | Counts | undefined;
}

/** Returns our counts together with the upstream's unknown fields, also those of its details. */
export function mergeCounts(reported: Json, ours: Counts): Json {
  const merged: Record<string, unknown> = { ...hideCosts(reported) };
  for (const name in ours) {
    const count = ours[name];
    merged[name] =
      typeof count === 'object' ? mergeCounts(readObject(reported, name), count) : count;
  }
  return merged;
}
