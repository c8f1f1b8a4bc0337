import type { Script } from './read-answers.ts';

export interface Vector extends Script {
  readonly name: string;
  /** What our client makes of the answer, see `Reading`. */
  readonly reading: string;
  /** Only if undici reads the answer differently. */
  readonly undici?: { readonly reading: string; readonly because: string };
}

export const OK = 'HTTP/1.1 200 OK\r\n';
export const HELLO = `${OK}content-length: 5\r\n\r\nhello`;
export const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
export const KEPT = '200 "hello" kept';
export const RAW_CHUNKS = '200 "5\\r\\nhello\\r\\n0\\r\\n\\r\\n" closed';
export const CLOSED = '200 "hello" closed';

type More = Partial<Omit<Vector, 'name' | 'pieces' | 'reading'>>;

export const vector = (
  name: string,
  pieces: string | string[],
  reading: string,
  more: More = {},
) => ({
  name,
  pieces: typeof pieces === 'string' ? [pieces] : pieces,
  reading,
  ...more,
});
export const lengthOf = (value: string) => `${OK}content-length: ${value}\r\n\r\nhello`;
export const encodedAs = (value: string) =>
  `${OK}transfer-encoding: ${value}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
export const withHeader = (line: string) => `${OK}${line}\r\ncontent-length: 5\r\n\r\nhello`;
export const withStatusLine = (line: string) => `${line}\r\ncontent-length: 5\r\n\r\nhello`;
export const laxly = (reading: string, because: string) => ({ undici: { reading, because } });
