import { Refusal } from './refusals.ts';
import { isObject } from './schema.ts';

/** More than any honest request has; what walks a body later may then do so by recursion. */
export const JSON_DEPTH_MAX = 128;

/** The JSON object in a request's body. Throws a `Refusal` for everything else. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes);
  if (text.trim() === '') throw refuseJson('Invalid JSON: the request body is empty');
  if (isTooDeep(text)) {
    throw refuseJson(`Invalid JSON: nested deeper than ${JSON_DEPTH_MAX} levels`);
  }
  const body = parse(text);
  if (!isObject(body)) throw refuseJson('Invalid JSON: the request body should be an object');
  return body;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuseJson('Invalid JSON: the request body is not valid UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The engine's message quotes the body, which has no business in a log.
    const position = error instanceof Error && / at position \d+/.exec(error.message)?.[0];
    throw refuseJson(`Invalid JSON${position || ''}`);
  }
}

/**
 * Whether a text of JSON is nested beyond the bound. Looks only at what stands outside of strings, so that
 * megabytes of text in one cost nothing.
 */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text[i]) {
      case '{':
      case '[':
        depth += 1;
        if (depth > JSON_DEPTH_MAX) return true;
        break;
      case '}':
      case ']':
        depth -= 1;
        break;
      case '"':
        i = findStringEnd(text, i + 1);
        break;
    }
  }
  return false;
}

function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end !== -1 && isEscaped(text, start, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, start: number, quote: number): boolean {
  let first = quote;
  while (first > start && text[first - 1] === '\\') first -= 1;
  return (quote - first) % 2 === 1;
}

function refuseJson(message: string): Refusal {
  return new Refusal('invalid_request', message, {
    chatMessage: `We could not parse the JSON body of your request. ${message}.`,
  });
}
