import type { AnswerHeaders } from './answer-headers.ts';
import { CONTENT_LENGTH_DIGITS_MAX } from './answer-limits.ts';
import { digitValue } from './byte-classes.ts';

/** How the body of an answer ends. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until_close' };

export interface HttpAnswerHead {
  readonly status: number;
  /** The last digit of the HTTP version: 0 or 1. */
  readonly minorVersion: number;
  readonly headers: AnswerHeaders;
}

const NONE: Framing = { kind: 'none' };
const CHUNKED: Framing = { kind: 'chunked' };
const UNTIL_CLOSE: Framing = { kind: 'until_close' };

/**
 * Undefined means malformed. RFC 9112 6.3 lets a reader repair much of what is refused here. But
 * two readers that repair differently see two different answers on one connection.
 */
export function frameBody(head: HttpAnswerHead, isHead: boolean): Framing | undefined {
  const { headers } = head;
  const length = headers.get('content-length');
  const encoding = headers.get('transfer-encoding');
  if (length !== undefined && encoding !== undefined) return undefined;
  if (length !== undefined && headers.hasSeveral('content-length')) return undefined;
  if (encoding !== undefined && headers.hasSeveral('transfer-encoding')) return undefined;
  const bytes = length === undefined ? 0 : decodeLength(length);
  if (bytes === undefined) return undefined;
  if (encoding !== undefined && !isChunked(encoding, head)) return undefined;
  if (isHead || head.status === 204 || head.status === 304) return NONE;
  if (encoding !== undefined) return CHUNKED;
  if (length !== undefined) return { kind: 'length', bytes };
  return UNTIL_CLOSE;
}

/** Undefined for anything but a few digits. */
function decodeLength(text: string): number | undefined {
  const { length } = text;
  if (length === 0 || length > CONTENT_LENGTH_DIGITS_MAX) return undefined;
  let bytes = 0;
  for (let i = 0; i < length; i++) {
    const digit = digitValue(text.charCodeAt(i));
    if (digit < 0 || digit > 9) return undefined;
    bytes = bytes * 10 + digit;
  }
  return bytes;
}

/**
 * HTTP/1.0 has no transfer encodings: a server that uses one there does not follow its own version.
 */
function isChunked(encoding: string, { minorVersion }: HttpAnswerHead): boolean {
  return minorVersion === 1 && encoding.toLowerCase() === 'chunked';
}
