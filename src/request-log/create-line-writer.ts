import { write } from 'node:fs';

/**
 * Pipes take so much at once and whole; of longer writes the lines of several processes would mix. See PIPE_BUF
 * in pipe(7).
 */
const WRITE_BYTES_MAX = 4_096;
/** Of lines that nobody has read yet; more are dropped and counted. */
export const QUEUE_BYTES_MAX = 1_048_576;
/** Lines wait for others for so long. */
const GATHER_MS = 100;
/** The count of dropped lines is told when all others are written, or when it has come so far. */
const DROPPED_UNTOLD_MAX = 1_000;

export interface LineWriterOptions {
  readonly fd: number;
  /** A line that tells how many are missing. */
  readonly describeDropped: (count: number) => string;
}

export interface LineWriter {
  /** One line of ASCII, with its line break. Never waits. */
  write(line: string): void;
  /** Resolves when all is written, or cannot be, or the time is up. */
  close(timeMaxMs: number): Promise<void>;
}

interface Chunk {
  readonly text: string;
  /** What is missing from the log if this is not written. */
  readonly lines: number;
}

/**
 * Writes lines in the background. A reader that is slow, or has stopped reading, makes it drop lines, not wait:
 * one write at a time is under way, on a thread of its own.
 */
export function createLineWriter({ fd, describeDropped }: LineWriterOptions): LineWriter {
  const chunks: Chunk[] = [];
  let gathered: Chunk = EMPTY;
  let queuedBytes = 0;
  let dropped = 0;
  let isWriting = false;
  let gatherTimer: NodeJS.Timeout | undefined;
  let tellIdle: (() => void) | undefined;

  const takeGathered = (): Chunk | undefined => {
    if (gathered === EMPTY) return undefined;
    const chunk = gathered;
    gathered = EMPTY;
    return chunk;
  };
  const take = (): Chunk | undefined => {
    const isDue = dropped >= DROPPED_UNTOLD_MAX;
    const chunk = isDue ? undefined : (chunks.shift() ?? takeGathered());
    if (chunk !== undefined) {
      queuedBytes -= chunk.text.length;
      return chunk;
    }
    if (dropped === 0) return undefined;
    const notice = { text: describeDropped(dropped), lines: dropped };
    dropped = 0;
    return notice;
  };
  const writeNext = () => {
    const chunk = take();
    isWriting = chunk !== undefined;
    if (chunk === undefined) tellIdle?.();
    else writeFrom(chunk, Buffer.from(chunk.text, 'latin1'));
  };
  const writeFrom = (chunk: Chunk, bytes: Buffer) => {
    write(fd, bytes, (error, written) => {
      if (error === null && written < bytes.length) writeFrom(chunk, bytes.subarray(written));
      else if (error === null) writeNext();
      else if (error.code === 'EAGAIN') setTimeout(() => writeFrom(chunk, bytes), GATHER_MS);
      else {
        // The next line tries again: a disk may have room by then.
        dropped += chunk.lines;
        isWriting = false;
        tellIdle?.();
      }
    });
  };
  const flush = () => {
    gatherTimer = undefined;
    if (!isWriting) writeNext();
  };

  return {
    write(line) {
      if (queuedBytes + line.length > QUEUE_BYTES_MAX) {
        dropped += 1;
        return;
      }
      queuedBytes += line.length;
      const isFull = gathered.text.length + line.length > WRITE_BYTES_MAX;
      const full = isFull ? takeGathered() : undefined;
      if (full !== undefined) chunks.push(full);
      gathered = { text: gathered.text + line, lines: gathered.lines + 1 };
      if (isFull && !isWriting) writeNext();
      gatherTimer ??= setTimeout(flush, GATHER_MS);
    },
    close(timeMaxMs) {
      clearTimeout(gatherTimer);
      return new Promise((resolve) => {
        tellIdle = resolve;
        setTimeout(resolve, timeMaxMs).unref();
        flush();
      });
    },
  };
}

const EMPTY: Chunk = { text: '', lines: 0 };
