import { Refusal } from '../refusals.ts';
import { isObject } from '../schema.ts';
import { findExcess } from './find-excess.ts';
import {
  ANSWER_BOUNDS,
  ANSWER_DEPTH_MAX,
  ANSWER_PARTS_MAX,
  type JsonExcess,
} from './json-place.ts';
import { type JsonBody, NO_LONG_TEXTS } from './parse-json-body.ts';
import { scanJson } from './scan-json.ts';

const EXCESSES: Readonly<Record<JsonExcess, string>> = {
  depth: 'it is nested too deeply',
  name: 'it has a name that is too long',
  parts: 'it has too many lists, objects and members',
};

/** A JSON object from an upstream. Nothing is known about its fields. */
export type Json = Readonly<Record<string, unknown>>;

/** A whole answer is collected in memory before it is decoded. */
export const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Each level of nesting takes two characters, so a shorter text cannot be too deep, nor can it have
 * a name that is too long. Most events of a stream are shorter.
 */
const SHALLOW_CHARS_MAX = 2 * ANSWER_DEPTH_MAX;

/**
 * Throws a `Refusal` unless the text is a JSON object within the bounds.
 */
export function parseUpstreamJson(text: string): Json {
  const room = { left: ANSWER_PARTS_MAX };
  const isLong = text.length > SHALLOW_CHARS_MAX;
  const excess = isLong ? findExcess(text, ANSWER_DEPTH_MAX, room) : undefined;
  if (excess !== undefined) throw refuseExcess(excess);
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw brokenAnswer('it is not a JSON object');
}

/** Does the same for a whole answer, which is sent on almost as it came. */
export function readUpstreamBody(bytes: Buffer): JsonBody {
  const text = bytes.toString('utf8');
  const scan = scanJson(bytes, text, ANSWER_BOUNDS);
  const { excess, members, hasPlainNames, memberCount, scalarBytes } = scan;
  if (excess !== undefined) throw refuseExcess(excess);
  const value = parseJson(text);
  if (!isObject(value)) throw brokenAnswer('it is not a JSON object');
  const longTexts = NO_LONG_TEXTS;
  return { value, bytes, members, hasPlainNames, memberCount, scalarBytes, longTexts };
}

/** Returns `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function brokenAnswer(what: string): Refusal {
  return new Refusal('upstream_broken', `The upstream's answer is broken: ${what}.`, {
    reason: `broken: ${what}`,
  });
}

/** For an answer that has more of something than is read: a model may be asked for that. */
export function oversizedAnswer(what: string): Refusal {
  return new Refusal('upstream_broken', `The upstream's answer is too large: ${what}.`, {
    isOversize: true,
    reason: `too large: ${what}`,
  });
}

function refuseExcess(excess: JsonExcess): Refusal {
  return oversizedAnswer(EXCESSES[excess]);
}

/** Returns the text of a field, or `undefined` if it is empty or not a text. */
export function readText(fields: Json, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function readObject(fields: Json, name: string): Json {
  const value = fields[name];
  return isObject(value) ? value : {};
}

/**
 * Returns a whole number of tokens. A number above the largest safe integer becomes that integer:
 * it must stay too large to be believed, and must not count as a missing number.
 */
export function readCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || value < 0) return undefined;
  if (value > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return Number.isInteger(value) ? value : undefined;
}
