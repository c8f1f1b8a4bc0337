import { CORK_BYTES_MAX, HEADER_VALUE_CHARS_MAX, SLICE_BYTES_MAX } from './http-limits.ts';
import type { UwsResponse } from './load-uws.ts';

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A head with the headers that every answer of an exchange carries. A handler's own header replaces
 * an added one of the same name.
 */
export interface CompleteHead extends AnswerHead {
  readonly requestId: string;
  readonly addedHeaders: readonly AnswerHead['headers'][];
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  200: '200 OK',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  402: '402 Payment Required',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  408: '408 Request Timeout',
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  502: '502 Bad Gateway',
  503: '503 Service Unavailable',
  504: '504 Gateway Timeout',
  529: '529 Overloaded',
};

const NO_HEADERS = {};
const UNSAFE_IN_HEADER = /[^\t\x20-\x7e\x80-\uffff]/;
const ALL_UNSAFE_IN_HEADER = new RegExp(UNSAFE_IN_HEADER, 'g');

/** Call this inside a cork, together with the bytes that follow the head. */
export function writeAnswerHead(res: UwsResponse, head: CompleteHead, closes: boolean): void {
  const { requestId, headers, addedHeaders } = head;
  res.writeStatus(STATUS_TEXTS[head.status] ?? String(head.status));
  res.writeHeader('request-id', requestId);
  res.writeHeader('x-request-id', requestId);
  for (const added of addedHeaders) writeHeaders(res, added, headers);
  writeHeaders(res, headers, NO_HEADERS);
  if (closes) res.writeHeader('connection', 'close');
}

/** How much of a body goes into one cork, beside the head if that is still unsent. */
export function measureCork(head: CompleteHead | undefined, bodyBytes: number): number {
  if (head === undefined) return CORK_BYTES_MAX;
  // Counting takes a microsecond, and gains something for few bodies.
  if (bodyBytes <= SLICE_BYTES_MAX || bodyBytes > CORK_BYTES_MAX) return SLICE_BYTES_MAX;
  return CORK_BYTES_MAX - countHeadBytes(head);
}

/** What `writeAnswerHead` writes at most. */
function countHeadBytes({ headers, addedHeaders, requestId }: CompleteHead): number {
  const FIXED_BYTES = 128;
  let bytes = FIXED_BYTES + 2 * requestId.length + countHeaderBytes(headers);
  for (const added of addedHeaders) bytes += countHeaderBytes(added);
  return bytes;
}

function countHeaderBytes(headers: AnswerHead['headers']): number {
  const LINE_BYTES = ': \r\n'.length;
  let bytes = 0;
  for (const name in headers) {
    bytes += name.length + Buffer.byteLength(headers[name] ?? '') + LINE_BYTES;
  }
  return bytes;
}

function writeHeaders(
  res: UwsResponse,
  headers: AnswerHead['headers'],
  stronger: AnswerHead['headers'],
): void {
  for (const name in headers) {
    if (!(name in stronger)) res.writeHeader(name, sanitizeHeaderValue(headers[name] ?? ''));
  }
}

/**
 * uWS writes values unchecked: a line break in a value would let its sender start another header.
 */
function sanitizeHeaderValue(value: string): string {
  if (value.length <= HEADER_VALUE_CHARS_MAX && !UNSAFE_IN_HEADER.test(value)) return value;
  return value.slice(0, HEADER_VALUE_CHARS_MAX).replace(ALL_UNSAFE_IN_HEADER, '');
}
