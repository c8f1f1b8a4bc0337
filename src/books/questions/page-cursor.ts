import { BooksError } from './books-error.ts';

/** Where an entry stands in the order of time. */
export interface Place {
  readonly ms: number;
  readonly bucket: number;
  readonly seq: number;
}

/** Which list a cursor belongs to. */
type CursorKind = 'r' | 'a';

const PATTERN = /^[ra](0|[1-9a-z][0-9a-z]*)\.(0|[1-9a-z][0-9a-z]*)\.(0|[1-9a-z][0-9a-z]*)$/;
const RADIX = 36;

/** Continues a list after this place; other lists refuse it. */
export function encodePageCursor(kind: CursorKind, { ms, bucket, seq }: Place): string {
  return kind + [ms, bucket, seq].map((number) => number.toString(RADIX)).join('.');
}

export function decodePageCursor(kind: CursorKind, cursor: string): Place {
  const [, ...texts] = PATTERN.exec(cursor) ?? [];
  const [ms = -1, bucket = -1, seq = -1] = texts.map((text) => Number.parseInt(text, RADIX));
  const isPlace = [ms, bucket, seq].every((number) => number >= 0 && Number.isSafeInteger(number));
  if (cursor.startsWith(kind) && isPlace) return { ms, bucket, seq };
  throw new BooksError('invalid_cursor', `before is not the next of a page of this list`);
}
