import { Refusal } from '../refusals.ts';
import { isObject } from '../schema.ts';
import { isTooDeep } from './is-too-deep.ts';
import { JSON_DEPTH_MAX } from './json-place.ts';
import { type JsonBody, NO_LONG_TEXTS } from './parse-json-body.ts';
import { scanJson } from './scan-json.ts';

/** A JSON object of an upstream: nothing about its fields is known. */
export type Json = Readonly<Record<string, unknown>>;

/** What is nested takes two characters for each level; most events of a stream are shorter. */
const SHALLOW_CHARS_MAX = 2 * JSON_DEPTH_MAX;

/** Throws a `Refusal` for everything that is no JSON object, or nested too deeply to be written again. */
export function parseUpstreamJson(text: string): Json {
  const value = parseJson(text);
  if (isObject(value) && !(text.length > SHALLOW_CHARS_MAX && isTooDeep(text))) return value;
  throw brokenAnswer('it is not a JSON object');
}

/** The same for a whole answer, which is to go on almost as it came. */
export function readUpstreamBody(bytes: Buffer): JsonBody {
  const text = bytes.toString('utf8');
  const { isTooDeep: isDeep, members, hasPlainNames, memberCount } = scanJson(bytes, text);
  const value = isDeep ? undefined : parseJson(text);
  if (!isObject(value)) throw brokenAnswer('it is not a JSON object');
  return { value, bytes, members, hasPlainNames, memberCount, longTexts: NO_LONG_TEXTS };
}

/** `undefined` where the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function brokenAnswer(what: string): Refusal {
  return new Refusal('upstream_broken', `The upstream's answer is broken: ${what}.`);
}

/** A text that says something. */
export function readText(fields: Json, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function readObject(fields: Json, name: string): Json {
  const value = fields[name];
  return isObject(value) ? value : {};
}

/** A whole number of tokens. More than can be counted is the most that can: too much to be believed, and no nothing. */
export function readCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || value < 0) return undefined;
  if (value > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return Number.isInteger(value) ? value : undefined;
}
