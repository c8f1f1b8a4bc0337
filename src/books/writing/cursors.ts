import { STREAM_START, type StreamId } from '../stream/stream-id.ts';

/** How far each bucket's stream is in the books: the id of the last entry. */
export type Cursors = ReadonlyMap<number, StreamId>;

export function cursorOf(cursors: Cursors, bucket: number): StreamId {
  return cursors.get(bucket) ?? STREAM_START;
}

export function encodeCursors(cursors: Cursors): string {
  return JSON.stringify(Object.fromEntries(cursors));
}

export function decodeCursors(text: string): Map<number, StreamId> {
  const cursors = JSON.parse(text) as Record<string, StreamId>;
  return new Map(Object.entries(cursors).map(([bucket, id]) => [Number(bucket), id]));
}
