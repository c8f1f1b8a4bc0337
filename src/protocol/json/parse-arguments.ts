import { countUtf8Bytes } from '../../lib/bytes/count-utf8-bytes.ts';
import { isObject } from '../schema.ts';
import { findExcess, type PartsRoom } from './find-excess.ts';
import { keepInputText, wrapInput } from './input-text.ts';
import { JSON_DEPTH_MAX, JSON_PARTS_MAX } from './json-place.ts';
import { parseJson } from './upstream-json.ts';

/** What a text may have beyond what it says, which each call is counted for anyway. */
const PADDING_BYTES_MAX = 64;

const EXPONENT = /\d[eE]/;

type Input = Readonly<Record<string, unknown>>;

interface ReadArguments {
  readonly input: Input;
  /**
   * Whether the text has more in it than `input` says: wide gaps, or a name that is repeated. An
   * upstream of the client's own format reads all of it.
   */
  readonly isPadded: boolean;
}

/** Room for the arguments of all calls in one request. */
export function createPartsRoom(): PartsRoom {
  return { left: JSON_PARTS_MAX };
}

/**
 * A model may write arguments that are not valid JSON, and learns from the call's result what was
 * wrong, so the conversation continues. It also continues where the other arguments of a request
 * leave no room.
 */
export function parseArguments(json: string, room: PartsRoom): ReadArguments {
  const input = parseToolInput(json, room);
  if (input === undefined) return { input: wrapInput(json), isPadded: false };
  const bytes = countUtf8Bytes(json);
  const isShort = bytes <= PADDING_BYTES_MAX;
  if (json.trim() === '') return { input, isPadded: !isShort };
  const padding = isShort ? 0 : bytes - countUtf8Bytes(writeLeast(json, input));
  return { input, isPadded: padding > PADDING_BYTES_MAX };
}

/**
 * Writes what a text says, and nothing longer than in the text: a number such as `1e20` would be
 * written with 21 digits, in whose room other text could hide.
 */
function writeLeast(json: string, input: Input): string {
  if (!EXPONENT.test(json)) return JSON.stringify(input);
  return JSON.stringify(input, (_, value) => (typeof value === 'number' ? 0 : value));
}

/** An empty text means `{}`. Returns `undefined` if the text is not a JSON object. */
export function parseToolInput(json: string, room = createPartsRoom()): Input | undefined {
  if (json.trim() === '') return {};
  const excess = findExcess(json, JSON_DEPTH_MAX, room);
  const input = excess === undefined ? parseJson(json) : undefined;
  return isObject(input) ? keepInputText(input, json) : undefined;
}
