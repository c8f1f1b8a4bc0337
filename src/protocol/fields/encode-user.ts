import type { InferenceRequest } from '../inference.ts';
import { readObject, readText } from '../json/upstream-json.ts';

/** Upstreams refuse a longer value. */
const USER_CHARS_MAX = 64;

/** The end user, as chat and Responses upstreams get it. */
export function encodeUser(passedOn: InferenceRequest['passedOn']): string | undefined {
  return readText(readObject(passedOn, 'metadata'), 'user_id')?.slice(0, USER_CHARS_MAX);
}
