/**
 * The port receives bytes, not requests. A test sends each vector as it stands, then checks which
 * handlers ran, what came back and whether the connection stayed open. Some builds of uWS answer a
 * malformed request with 400 or 505, others only close the connection after 8 to 12 seconds. Both
 * are safe, so both are allowed here.
 */
export interface Vector {
  readonly name: string;
  /** One string per packet. */
  readonly packets: readonly string[];
}

export const HOST = 'Host: a\r\n';
/**
 * A placeholder in every path, replaced by a mark of the same length that is unique to the vector.
 */
export const MARK = '?mark';
export const SMUGGLED = `GET /smuggled${MARK} HTTP/1.1\r\n${HOST}\r\n`;
export const GET_OK = `GET /ok${MARK} HTTP/1.1\r\n${HOST}\r\n`;

export const post = (headers: string, body = '') =>
  `POST /ok${MARK} HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
export const chunked = (body: string) => post('Transfer-Encoding: chunked\r\n', body);
export const get = (headers: string) => `GET /ok${MARK} HTTP/1.1\r\n${HOST}${headers}\r\n`;
const vector = (name: string, ...packets: string[]): Vector => ({ name, packets });

/**
 * Two parsers could disagree on these vectors, or they are not HTTP/1.1. No handler may see them.
 */
export const REFUSED: readonly Vector[] = [
  vector(
    'content-length and transfer-encoding',
    post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${SMUGGLED}`),
  ),
  vector(
    'transfer-encoding and content-length',
    post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${SMUGGLED}`),
  ),
  vector(
    'two different content-lengths',
    post(`Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n`, SMUGGLED),
  ),
  vector(
    'two different content-lengths, the longer first',
    post(`Content-Length: 5\r\nContent-Length: 0\r\n`, `hello${SMUGGLED}`),
  ),
  vector(
    'the same content-length twice',
    post('Content-Length: 5\r\nContent-Length: 5\r\n', `hello${SMUGGLED}`),
  ),
  vector('a list of content-lengths', post('Content-Length: 5, 5\r\n', `hello${SMUGGLED}`)),
  vector('a negative content-length', post('Content-Length: -5\r\n', SMUGGLED)),
  vector('a signed content-length', post('Content-Length: +5\r\n', `hello${SMUGGLED}`)),
  vector('a hexadecimal content-length', post('Content-Length: 0x5\r\n', `hello${SMUGGLED}`)),
  vector('a content-length with letters', post('Content-Length: 5a\r\n', `hello${SMUGGLED}`)),
  vector(
    'a content-length beyond 64 bits',
    post('Content-Length: 99999999999999999999\r\n', SMUGGLED),
  ),
  vector(
    'gzip before chunked',
    post('Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${SMUGGLED}`),
  ),
  vector(
    'an unknown transfer-encoding that ends like chunked',
    post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${SMUGGLED}`),
  ),
  vector('identity', post('Transfer-Encoding: identity\r\n', SMUGGLED)),
  vector(
    'transfer-encoding twice',
    post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', `0\r\n\r\n${SMUGGLED}`),
  ),
  vector('chunked twice', post('Transfer-Encoding: chunked, chunked\r\n', `0\r\n\r\n${SMUGGLED}`)),
  vector(
    'a space before the colon',
    post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${SMUGGLED}`),
  ),
  vector('a folded header', post('Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${SMUGGLED}`)),
  vector('a folded value', get('X-A: b\r\n c\r\n') + SMUGGLED),
  vector('line feeds alone in the head', `GET /ok${MARK} HTTP/1.1\nHost: a\n\n${SMUGGLED}`),
  vector('a line feed alone after a header', get('X-A: b\nX-C: d\r\n') + SMUGGLED),
  vector('a carriage return inside a value', get('X-A: b\rX-C: d\r\n') + SMUGGLED),
  vector('NUL in a value', get('X-A: b\0c\r\n') + SMUGGLED),
  vector('NUL in a name', get('X\0A: b\r\n') + SMUGGLED),
  vector('NUL in the path', `GET /ok\0${MARK} HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`),
  vector('a header without a colon', get('X-A\r\n') + SMUGGLED),
  vector('no version', `GET /ok${MARK}\r\n${HOST}\r\n${SMUGGLED}`),
  vector('HTTP/2.0 in the request line', `GET /ok${MARK} HTTP/2.0\r\n${HOST}\r\n${SMUGGLED}`),
  vector('HTTP/1.0', `GET /ok${MARK} HTTP/1.0\r\n${HOST}\r\n${SMUGGLED}`),
  vector('an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  vector('no Host', `GET /ok${MARK} HTTP/1.1\r\n\r\n`),
  vector('two Hosts', `GET /ok${MARK} HTTP/1.1\r\n${HOST}${HOST}\r\n${SMUGGLED}`),
  vector(
    'two authorizations',
    get('Authorization: Bearer a\r\nAuthorization: Bearer b\r\n') + SMUGGLED,
  ),
  vector('two api keys', get('x-api-key: a\r\nx-api-key: b\r\n') + SMUGGLED),
  vector('CONNECT', `CONNECT a:80 HTTP/1.1\r\n${HOST}\r\n${SMUGGLED}`),
  vector('a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  vector('bytes that are no text at all', '\x00\x01\x02\x03\r\n\r\n'),
  vector(
    'headers of 200 KB in several packets',
    `GET /ok${MARK} HTTP/1.1\r\n${HOST}`,
    ...Array(20).fill(`X-A: ${'b'.repeat(10_000)}\r\n`),
    '\r\n',
  ),
  vector('2,000 headers', get('X-A: b\r\n'.repeat(2_000))),
  vector('a chunk length that is no number', chunked(`zz\r\nhello\r\n0\r\n\r\n${SMUGGLED}`)),
  vector('a negative chunk length', chunked(`-5\r\nhello\r\n0\r\n\r\n${SMUGGLED}`)),
  vector(
    'a chunk length beyond 64 bits',
    chunked(`fffffffffffffffff\r\nhello\r\n0\r\n\r\n${SMUGGLED}`),
  ),
];
