import { decodeBase62 } from '../lib/units/base62.ts';

/** See `http/request-id.ts`. */
const PATTERN = /^req_([0-9A-Za-z]{6})[0-9A-Za-z]{18}$/;
const MINUTE_MS = 60_000;

/** The beginning of the minute in which the request came; undefined when this cannot be the id of one. */
export function minuteOfRequest(id: string): number | undefined {
  const minute = PATTERN.exec(id)?.[1];
  return minute === undefined ? undefined : decodeBase62(minute) * MINUTE_MS;
}
