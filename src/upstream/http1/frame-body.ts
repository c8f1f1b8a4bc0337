import type { AnswerHeaders } from './answer-headers.ts';
import { CONTENT_LENGTH_DIGITS_MAX } from './answer-limits.ts';

/** How the body of an answer ends. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until_close' };

export interface AnswerHead {
  readonly status: number;
  /** 0 or 1, of the HTTP version. */
  readonly minorVersion: number;
  readonly headers: AnswerHeaders;
}

const NONE: Framing = { kind: 'none' };
const CHUNKED: Framing = { kind: 'chunked' };
const UNTIL_CLOSE: Framing = { kind: 'until_close' };
const CONTENT_LENGTH = new RegExp(`^\\d{1,${CONTENT_LENGTH_DIGITS_MAX}}$`);

/**
 * Undefined means malformed. RFC 9112 6.3 lets a reader repair much of what is refused here; two readers that
 * repair differently see two different answers on one connection.
 */
export function frameBody(head: AnswerHead, isHead: boolean): Framing | undefined {
  const { headers } = head;
  const length = headers.get('content-length');
  const encoding = headers.get('transfer-encoding');
  if (length !== undefined && encoding !== undefined) return undefined;
  if (headers.hasSeveral('content-length') || headers.hasSeveral('transfer-encoding')) {
    return undefined;
  }
  if (length !== undefined && !CONTENT_LENGTH.test(length)) return undefined;
  if (encoding !== undefined && !isChunked(encoding, head)) return undefined;
  if (isHead || head.status === 204 || head.status === 304) return NONE;
  if (encoding !== undefined) return CHUNKED;
  if (length !== undefined) return { kind: 'length', bytes: Number(length) };
  return UNTIL_CLOSE;
}

/** HTTP/1.0 knows no transfer encodings: who uses one there has not understood the other. */
function isChunked(encoding: string, { minorVersion }: AnswerHead): boolean {
  return minorVersion === 1 && encoding.toLowerCase() === 'chunked';
}
