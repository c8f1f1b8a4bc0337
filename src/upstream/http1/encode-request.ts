import type { Origin } from './origin.ts';

const PATH = /^\/[\x21-\x7e]*$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Includes the query. */
  readonly path: string;
  /**
   * Name, value, name, value, …; the names in lower case, without `accept-encoding`, `host`,
   * `content-length` and `connection`.
   */
  readonly headers: readonly string[] | HeaderLines;
  /**
   * Pieces that follow each other. They are not copied: the caller must not change them until the
   * exchange is over.
   */
  readonly body: readonly Uint8Array[] | undefined;
}

/** Without it, an upstream may answer in any encoding, and none is decoded here. */
const ACCEPT_ENCODING = 'accept-encoding: identity\r\n';

/**
 * The lines that are the same for every request to an origin, after the end of the request line.
 */
export function encodeOriginLines({ protocol, host, port }: Origin): string {
  const name = host.includes(':') ? `[${host}]` : host;
  const isUsualPort = port === (protocol === 'https:' ? 443 : 80);
  return ` HTTP/1.1\r\nhost: ${isUsualPort ? name : `${name}:${port}`}\r\nconnection: keep-alive\r\n${ACCEPT_ENCODING}`;
}

/**
 * The head of a request, in ISO-8859-1. Throws if it is not valid HTTP: a line break in a value
 * would begin another header.
 */
export function encodeRequestHead(request: HttpRequest, originLines: string): string {
  const { method, body, headers } = request;
  const head =
    headers instanceof HeaderLines
      ? headers.startHead(request, originLines)
      : startHead(request, originLines, encodeHeaderLines(headers));
  if (body !== undefined) return `${head}content-length: ${countBodyBytes(body)}\r\n\r\n`;
  return method === 'POST' ? `${head}content-length: 0\r\n\r\n` : `${head}\r\n`;
}

export function countBodyBytes(body: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const piece of body) bytes += piece.length;
  return bytes;
}

/** Everything before the length of the body. */
function startHead({ method, path }: HttpRequest, originLines: string, lines: string): string {
  if (!PATH.test(path)) throw new Error('a path must begin with / and be visible ASCII');
  return `${method} ${path}${originLines}${lines}`;
}

/**
 * Headers that have been checked, for all requests that share them. It also keeps the last head,
 * because most requests go to the same path.
 */
export class HeaderLines {
  readonly #text: string;
  #method: HttpRequest['method'] | undefined;
  #path = '';
  #originLines = '';
  #head = '';

  constructor(headers: readonly string[]) {
    this.#text = encodeHeaderLines(headers);
  }

  startHead(request: HttpRequest, originLines: string): string {
    const { method, path } = request;
    if (method === this.#method && path === this.#path && originLines === this.#originLines) {
      return this.#head;
    }
    this.#head = startHead(request, originLines, this.#text);
    this.#method = method;
    this.#path = path;
    this.#originLines = originLines;
    return this.#head;
  }
}

function encodeHeaderLines(headers: readonly string[]): string {
  let lines = '';
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1];
    if (!NAME.test(name)) throw new Error('a header must have a name of lower case letters');
    // The value may be a secret, so the message does not repeat it.
    if (value === undefined || !VALUE.test(value))
      throw new Error(`header ${name} has no possible value`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
