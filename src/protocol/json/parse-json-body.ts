import { asBuffer } from '../../lib/bytes/as-buffer.ts';
import { Refusal } from '../refusals.ts';
import { isObject } from '../schema.ts';
import { JSON_DEPTH_MAX } from './json-place.ts';
import { type JsonMember, scanJson } from './scan-json.ts';

/** A JSON object as it was read, and as it came. */
export interface JsonBody {
  readonly value: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  readonly members: readonly JsonMember[];
  /** No name of them is written with an escape. */
  readonly hasPlainNames: boolean;
  /** Of all objects in the bytes, at any depth; more than in the value where a name stands twice. */
  readonly memberCount: number;
  readonly longTexts: LongTexts;
}

/** What stands in the value for texts that were not read, and what each of those takes in UTF-8. */
export type LongTexts = ReadonlyMap<string, number>;

/** All of it was read. */
export const NO_LONG_TEXTS: LongTexts = new Map();

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON object in a request's body. Throws a `Refusal` for everything else. */
export function parseJsonBody(bytes: Uint8Array): JsonBody['value'] {
  return readJsonBody(bytes).value;
}

/** The same, for whoever sends most of the bytes on. */
export function readJsonBody(received: Uint8Array): JsonBody {
  const text = decodeUtf8(received);
  const bytes = asBuffer(received);
  const scan = scanJson(bytes, text);
  if (scan.isTooDeep) {
    throw refuseJson(`Invalid JSON: nested deeper than ${JSON_DEPTH_MAX} levels`);
  }
  const value = parse(text);
  if (!isObject(value)) throw refuseJson('Invalid JSON: the request body should be an object');
  const { members, hasPlainNames, memberCount } = scan;
  return { value, bytes, members, hasPlainNames, memberCount, longTexts: NO_LONG_TEXTS };
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refuseJson('Invalid JSON: the request body is not valid UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text.trim() === '') throw refuseJson('Invalid JSON: the request body is empty');
    // The engine's message quotes the body, which has no business in a log.
    const position = error instanceof Error && / at position \d+/.exec(error.message)?.[0];
    throw refuseJson(`Invalid JSON${position || ''}`);
  }
}

function refuseJson(message: string): Refusal {
  return new Refusal('invalid_request', message, {
    chatMessage: `We could not parse the JSON body of your request. ${message}.`,
  });
}
