import type { UwsRequest } from './load-uws.ts';

export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  /** As sent: neither decoded nor normalised. */
  readonly path: string;
  readonly query: string;
  /**
   * Name, value, name, value …: a list is cheaper to fill than a map, and few names are ever looked
   * up. Emptied once a stream has begun.
   */
  headers: readonly string[];
  /** `undefined` if the request names no length. */
  readonly contentLength: number | undefined;
  readonly isChunked: boolean;
}

/**
 * Headers that decide who asks or where a request ends. A second such header is an attack, not a
 * variant.
 */
function isSingle(name: string): boolean {
  // Compare the length first: a look-up in a set would hash the whole name, which is a new string
  // in each request.
  switch (name.length) {
    case 4:
      return name === 'host';
    case 9:
      return name === 'x-api-key';
    case 13:
      return name === 'authorization';
    case 14:
      return name === 'content-length';
    case 17:
      return name === 'transfer-encoding';
    default:
      return false;
  }
}

/**
 * Copies everything that is needed before the first await: uWS reuses the request's memory
 * afterwards. Returns `undefined` if two readers could disagree on where this request ends or on
 * who sent it. uWS itself takes the first of two lengths, and any value that contains `chunked`.
 */
export function readRequestHead(req: UwsRequest): RequestHead | undefined {
  const headers: string[] = [];
  let isAmbiguous = false;
  req.forEach((name, value) => {
    if (isSingle(name) && findHeader(headers, name) !== undefined) isAmbiguous = true;
    headers.push(name, value);
  });
  if (isAmbiguous) return undefined;

  const transferEncoding = findHeader(headers, 'transfer-encoding');
  const lengthText = findHeader(headers, 'content-length');
  if (transferEncoding !== undefined) {
    if (transferEncoding.toLowerCase() !== 'chunked' || lengthText !== undefined) return undefined;
  }
  if (lengthText !== undefined && !/^\d{1,15}$/.test(lengthText)) return undefined;
  return {
    method: req.getMethod().toUpperCase(),
    path: req.getUrl(),
    query: req.getQuery(),
    headers,
    contentLength: lengthText === undefined ? undefined : Number(lengthText),
    isChunked: transferEncoding !== undefined,
  };
}

/**
 * Headers whose lines are one list, because clients write a line for each value or a proxy adds
 * one of its own. `traceparent` is not a list, but two of them count as none.
 */
const JOINED = new Set([
  'accept',
  'anthropic-beta',
  'llm-beta',
  'traceparent',
  'tracestate',
  'x-forwarded-for',
]);

/** The value under a lower-case name: all lines of a list, the first line of any other header. */
export function readHeader(headers: readonly string[], name: string): string | undefined {
  return JOINED.has(name) ? joinHeader(headers, name) : findHeader(headers, name);
}

function findHeader(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === name) return headers[i + 1];
  }
  return undefined;
}

function joinHeader(headers: readonly string[], name: string): string | undefined {
  let joined: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== name) continue;
    joined = joined === undefined ? headers[i + 1] : `${joined},${headers[i + 1]}`;
  }
  return joined;
}
