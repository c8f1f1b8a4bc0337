import { asBuffer } from '../../lib/bytes/as-buffer.ts';
import { Refusal } from '../refusals.ts';
import { isObject } from '../schema.ts';
import {
  JSON_DEPTH_MAX,
  JSON_FIELDS_MAX,
  JSON_NAME_BYTES_MAX,
  JSON_PARTS_MAX,
  type JsonExcess,
  REQUEST_BOUNDS,
} from './json-place.ts';
import { type JsonMember, scanJson } from './scan-json.ts';

/** A JSON object, both parsed and as the client sent it. */
export interface JsonBody {
  readonly value: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  readonly members: readonly JsonMember[];
  /** Whether all names of `members` are written without an escape. */
  readonly hasPlainNames: boolean;
  /**
   * Counts the members of all objects in the bytes, at any depth. The count exceeds that of the
   * value if a name occurs twice in an object.
   */
  readonly memberCount: number;
  /**
   * The bytes of all numbers and other values that are not strings. A number may have any number
   * of digits, of which its value says only the first.
   */
  readonly scalarBytes: number;
  readonly longTexts: LongTexts;
}

/** Maps each stand-in for an unread text to the length of that text in UTF-8 bytes. */
export type LongTexts = ReadonlyMap<string, number>;

/** For a body that was read completely. */
export const NO_LONG_TEXTS: LongTexts = new Map();

const EXCESSES: Readonly<Record<JsonExcess, string>> = {
  depth: `nested deeper than ${JSON_DEPTH_MAX} levels`,
  name: `the name of a member is longer than ${JSON_NAME_BYTES_MAX} bytes`,
  parts: `more than ${JSON_PARTS_MAX} lists, objects and members of objects`,
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Returns the JSON object in a request's body. Throws a `Refusal` for anything else. */
export function parseJsonBody(bytes: Uint8Array): JsonBody['value'] {
  return readJsonBody(bytes).value;
}

/** Does the same for callers that send most of the bytes on. */
export function readJsonBody(received: Uint8Array): JsonBody {
  const text = decodeUtf8(received);
  const bytes = asBuffer(received);
  const scan = scanJson(bytes, text, REQUEST_BOUNDS);
  if (scan.excess !== undefined) throw refuseJson(`Invalid JSON: ${EXCESSES[scan.excess]}`);
  if (scan.members.length > JSON_FIELDS_MAX) {
    throw refuseJson(`Invalid JSON: the request body has more than ${JSON_FIELDS_MAX} fields`);
  }
  const value = parse(text);
  if (!isObject(value)) throw refuseJson('Invalid JSON: the request body should be an object');
  const { members, hasPlainNames, memberCount, scalarBytes } = scan;
  const longTexts = NO_LONG_TEXTS;
  return { value, bytes, members, hasPlainNames, memberCount, scalarBytes, longTexts };
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
    // The engine's message quotes the body, and a body must not end up in a log.
    const position = error instanceof Error && / at position \d+/.exec(error.message)?.[0];
    throw refuseJson(`Invalid JSON${position || ''}`);
  }
}

function refuseJson(message: string): Refusal {
  return new Refusal('invalid_request', message, {
    chatMessage: `We could not parse the JSON body of your request. ${message}.`,
  });
}
