import { asBuffer } from '../lib/as-buffer.ts';
import { Refusal } from './refusals.ts';

/** One server-sent event. Those without data are none, by the standard. */
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

export interface SseDecoder {
  /** The events that this chunk completes. */
  push(chunk: Uint8Array): SseEvent[];
  /** Nothing more comes: an event that is not complete by now is dropped, by the standard. */
  end(): SseEvent[];
}

/** Far above what an upstream puts into one event; an endless one must not fill the memory. */
export const SSE_EVENT_BYTES_MAX = 4 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = '\uFEFF';

/** Reads a stream that may be cut anywhere, in the middle of a character or a line end too. */
export function createSseDecoder(): SseDecoder {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const fields = createFieldReader();
  let line = '';
  let lineBytes = 0;
  let isFirstLine = true;
  let isAfterCr = false;

  const take = (piece: Uint8Array, isLineEnd: boolean) => {
    lineBytes += piece.length;
    if (fields.bytes() + lineBytes > SSE_EVENT_BYTES_MAX) {
      throw new Refusal('upstream_broken', 'The upstream sent an event that is too large.');
    }
    if (lineBytes > 0) line += decoder.decode(piece, { stream: !isLineEnd });
  };

  const endLine = (): SseEvent | undefined => {
    const text = isFirstLine && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
    const event = fields.readLine(text, lineBytes);
    line = '';
    lineBytes = 0;
    isFirstLine = false;
    return event;
  };

  /** Whole lines that end in line feeds, as most do: they are decoded at once, which takes half of the time. */
  const isWholeLines = (chunk: Uint8Array): boolean =>
    lineBytes === 0 &&
    !isAfterCr &&
    chunk[chunk.length - 1] === LF &&
    fields.bytes() + chunk.length <= SSE_EVENT_BYTES_MAX &&
    !chunk.includes(CR);

  const pushLines = (text: string): SseEvent[] => {
    const events: SseEvent[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      line = text.slice(start, end);
      lineBytes = line.length;
      const event = endLine();
      if (event !== undefined) events.push(event);
      start = end + 1;
    }
    return events;
  };

  return {
    push(chunk) {
      if (isWholeLines(chunk)) return pushLines(asBuffer(chunk).toString('utf8'));
      const events: SseEvent[] = [];
      let start = 0;
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i];
        if (byte !== LF && byte !== CR) {
          isAfterCr = false;
          continue;
        }
        const isSecondHalf = byte === LF && isAfterCr;
        isAfterCr = byte === CR;
        if (!isSecondHalf) {
          take(chunk.subarray(start, i), true);
          const event = endLine();
          if (event !== undefined) events.push(event);
        }
        start = i + 1;
      }
      if (start < chunk.length) take(chunk.subarray(start), false);
      return events;
    },
    end: () => [],
  };
}

/** Puts an event together from its lines. */
function createFieldReader() {
  let event: string | undefined;
  let data: string[] = [];
  let bytes = 0;

  const finish = (): SseEvent | undefined => {
    const finished = data.length > 0 ? { event, data: data.join('\n') } : undefined;
    event = undefined;
    data = [];
    bytes = 0;
    return finished;
  };

  return {
    bytes: () => bytes,
    readLine(line: string, lineBytes: number): SseEvent | undefined {
      if (line === '') return finish();
      const colon = line.indexOf(':');
      // A comment belongs to no event: many of them keep a silent stream alive.
      if (colon === 0) return undefined;
      bytes += lineBytes;
      const name = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
      if (name === 'event') event = value === '' ? undefined : value;
      else if (name === 'data') data.push(value);
      return undefined;
    },
  };
}
