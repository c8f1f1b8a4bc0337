import {
  CHUNKED,
  encodedAs,
  HELLO,
  laxly,
  lengthOf,
  OK,
  RAW_CHUNKS,
  type Vector,
  vector,
  withHeader,
  withStatusLine,
} from './vector.ts';

/** Answers that are not HTTP/1.1, or that two readers could understand differently. */
export const MALFORMED_VECTORS: readonly Vector[] = [
  // Lengths and encodings that two readers could understand differently.
  vector(
    'a length and chunks',
    `${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    'malformed',
  ),
  vector(
    'chunks and a length',
    `${OK}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    'malformed',
  ),
  vector('two different lengths', withHeader('content-length: 6'), 'malformed'),
  vector('the same length twice', withHeader('content-length: 5'), 'malformed'),
  vector('a list of lengths', lengthOf('5, 5'), 'malformed'),
  vector('an empty length', lengthOf(''), 'malformed'),
  vector('a signed length', lengthOf('+5'), 'malformed'),
  vector('a negative length', lengthOf('-5'), 'malformed'),
  vector('a hexadecimal length', lengthOf('0x5'), 'malformed'),
  vector('a length with a space inside', lengthOf('5 5'), 'malformed'),
  vector('a length with a fraction', lengthOf('5.0'), 'malformed'),
  vector('a length beyond 64 bits', lengthOf('18446744073709551621'), 'malformed'),
  vector('a length beyond 2^53', lengthOf('9007199254740997'), 'malformed', {
    after: 'close',
    ...laxly('200 fails', 'it waits for so much, or for the close'),
  }),
  vector(
    'gzip before chunked',
    encodedAs('gzip, chunked'),
    'malformed',
    laxly('200 "hello" kept', 'it does not undo encodings, nor miss that'),
  ),
  vector('chunked before gzip', encodedAs('chunked, gzip'), 'malformed', {
    after: 'close',
    ...laxly(RAW_CHUNKS, 'it reads what it does not know until the close'),
  }),
  vector(
    'chunked twice',
    encodedAs('chunked, chunked'),
    'malformed',
    laxly('200 "hello" kept', 'it looks at the last encoding only'),
  ),
  vector(
    'two transfer encodings',
    withHeader('transfer-encoding: chunked\r\ntransfer-encoding: chunked'),
    'malformed',
  ),
  vector('an unknown transfer encoding', encodedAs('xchunked'), 'malformed', {
    after: 'close',
    ...laxly(RAW_CHUNKS, 'it reads what it does not know until the close'),
  }),
  vector('identity', encodedAs('identity'), 'malformed', {
    after: 'close',
    ...laxly(RAW_CHUNKS, 'it reads what it does not know until the close'),
  }),
  vector('an empty transfer encoding', encodedAs(''), 'malformed', {
    after: 'close',
    ...laxly(RAW_CHUNKS, 'it reads what it does not know until the close'),
  }),
  vector(
    'chunks in HTTP/1.0',
    'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    'malformed',
    laxly('200 "hello" closed', 'it lets HTTP/1.0 have chunks'),
  ),

  // Chunks.
  vector('a chunk size that is no number', `${CHUNKED}x\r\nhello\r\n0\r\n\r\n`, '200 malformed'),
  vector('an empty chunk size', `${CHUNKED}\r\nhello\r\n0\r\n\r\n`, '200 malformed'),
  vector('an empty chunk size at the end', `${CHUNKED}5\r\nhello\r\n\r\n\r\n`, '200 malformed'),
  vector('a chunk extension without a size', `${CHUNKED};a\r\n\r\n`, '200 malformed'),
  vector('a signed chunk size', `${CHUNKED}+5\r\nhello\r\n0\r\n\r\n`, '200 malformed'),
  vector('a chunk size with 0x', `${CHUNKED}0x5\r\nhello\r\n0\r\n\r\n`, '200 malformed'),
  vector('a space behind a chunk size', `${CHUNKED}5 \r\nhello\r\n0\r\n\r\n`, '200 malformed'),
  vector('a space before a chunk size', `${CHUNKED} 5\r\nhello\r\n0\r\n\r\n`, '200 malformed'),
  vector(
    'a chunk size beyond 64 bits',
    `${CHUNKED}10000000000000005\r\nhello\r\n0\r\n\r\n`,
    '200 malformed',
  ),
  vector('a chunk size beyond 48 bits', `${CHUNKED}1000000000000\r\nhello`, '200 malformed', {
    after: 'close',
  }),
  vector(
    'a chunk that is longer than its size',
    `${CHUNKED}4\r\nhello\r\n0\r\n\r\n`,
    '200 malformed',
  ),
  vector(
    'a chunk that is shorter than its size',
    `${CHUNKED}6\r\nhello\r\n0\r\n\r\n`,
    '200 malformed',
  ),
  vector(
    'a line feed alone behind a chunk size',
    `${CHUNKED}5\nhello\r\n0\r\n\r\n`,
    '200 malformed',
  ),
  vector('a line feed alone behind a chunk', `${CHUNKED}5\r\nhello\n0\r\n\r\n`, '200 malformed'),
  vector('a line feed alone at the end', `${CHUNKED}5\r\nhello\r\n0\r\n\n`, '200 malformed'),
  vector(
    'a carriage return alone behind a chunk size',
    `${CHUNKED}5\rhello\r\n0\r\n\r\n`,
    '200 malformed',
  ),
  vector(
    'a control character in a chunk extension',
    `${CHUNKED}5;a=\x01\r\nhello\r\n0\r\n\r\n`,
    '200 malformed',
  ),
  vector('a chunk extension without an end', `${CHUNKED}5;${'a'.repeat(20_000)}`, '200 malformed', {
    after: 'close',
  }),
  vector(
    'trailers without an end',
    `${CHUNKED}0\r\n${'x-a: b\r\n'.repeat(3_000)}`,
    '200 malformed',
    { after: 'close' },
  ),
  vector('a trailer without an end', `${CHUNKED}0\r\nx-a: ${'b'.repeat(9_000)}`, '200 malformed', {
    after: 'close',
  }),
  vector('a trailer without a colon', `${CHUNKED}0\r\nx-a\r\n\r\n`, '200 malformed'),
  vector('a folded trailer', `${CHUNKED}0\r\nx-a: b\r\n c\r\n\r\n`, '200 malformed'),

  // Heads.
  vector('a folded header', withHeader('x-a: b\r\n c'), 'malformed'),
  vector('a first header that begins with a space', withHeader(' x-a: b'), 'malformed'),
  vector('a space before the colon', withHeader('x-a : b'), 'malformed'),
  vector('a header without a colon', withHeader('x-a'), 'malformed'),
  vector('a header without a name', withHeader(': b'), 'malformed'),
  vector('a name beyond ASCII', withHeader('x-\xd6: b'), 'malformed'),
  vector('a zero byte in a name', withHeader('x\0a: b'), 'malformed'),
  vector('a zero byte in a value', withHeader('x-a: b\0c'), 'malformed'),
  vector('a control character in a value', withHeader('x-a: b\x01c'), 'malformed'),
  vector('DEL in a value', withHeader('x-a: b\x7fc'), 'malformed'),
  vector('a carriage return in a value', withHeader('x-a: b\rc'), 'malformed'),
  vector(
    'line feeds alone in the head',
    'HTTP/1.1 200 OK\ncontent-length: 5\n\nhello',
    'malformed',
  ),
  vector('a line feed alone behind a header', `${OK}content-length: 5\n\r\nhello`, 'malformed'),
  vector('a line feed alone behind the head', `${OK}content-length: 5\r\n\nhello`, 'malformed'),
  vector('a head that is too large', `${OK}x-a: ${'b'.repeat(70_000)}`, 'too_large_head'),
  vector(
    '257 headers',
    withHeader(Array(256).fill('x-a: b').join('\r\n')),
    'too_large_head',
    laxly('200 "hello" kept', 'it counts bytes, not headers'),
  ),
  vector('a reason without an end', `HTTP/1.1 200 ${'O'.repeat(70_000)}`, 'too_large_head', {
    after: 'close',
  }),
  vector(
    '33 heads before the answer',
    'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(33) + HELLO,
    'malformed',
    laxly('200 "hello" kept', 'it does not count heads'),
  ),
  vector(
    '101',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    'malformed',
  ),

  // Bytes that are not HTTP/1.1 at all.
  vector(
    'HTTP/2',
    withStatusLine('HTTP/2.0 200 OK'),
    'malformed',
    laxly('200 "hello" closed', 'it knows that version too'),
  ),
  vector('HTTP/1.2', withStatusLine('HTTP/1.2 200 OK'), 'malformed'),
  vector(
    'HTTP/0.9',
    withStatusLine('HTTP/0.9 200 OK'),
    'malformed',
    laxly('200 "hello" closed', 'it knows that version too'),
  ),
  vector('http in lower case', withStatusLine('http/1.1 200 OK'), 'malformed'),
  vector('ICY', withStatusLine('ICY 200 OK'), 'malformed'),
  vector(
    'an empty line first',
    `\r\n${HELLO}`,
    'malformed',
    laxly('200 "hello" kept', 'it skips empty lines before an answer'),
  ),
  vector('two spaces before the status', withStatusLine('HTTP/1.1  200 OK'), 'malformed'),
  vector('a status of two digits', withStatusLine('HTTP/1.1 20 OK'), 'malformed'),
  vector('a status of four digits', withStatusLine('HTTP/1.1 2000 OK'), 'malformed'),
  vector('a status of letters', withStatusLine('HTTP/1.1 2xx OK'), 'malformed'),
  vector(
    'status 099',
    withStatusLine('HTTP/1.1 099 Low'),
    'malformed',
    laxly('asserts', 'it asserts that no server does this'),
  ),
  vector(
    'status 600',
    withStatusLine('HTTP/1.1 600 High'),
    'malformed',
    laxly('600 "hello" kept', 'it takes any three digits'),
  ),
  vector(
    'a control character in the reason',
    withStatusLine('HTTP/1.1 200 O\x01K'),
    'malformed',
    laxly('200 "hello" kept', 'it skips the reason'),
  ),
  vector('the greeting of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'malformed'),
  vector('a request', 'GET / HTTP/1.1\r\nhost: a\r\n\r\n', 'malformed'),
  vector('bytes that are no text', '\x16\x03\x01\x02\x00\x01', 'malformed'),
];
