import { fstatSync, write } from 'node:fs';
import { type Chunk, createLineQueue } from './line-queue.ts';

/**
 * A pipe takes this many bytes at once and whole. In longer writes, the lines of several processes
 * would mix; see PIPE_BUF in pipe(7). This limits how many lines go out, since one write takes a
 * turn of the event loop.
 */
const PIPE_WRITE_BYTES_MAX = 4_096;
/** Files take any write whole. */
const FILE_WRITE_BYTES_MAX = 65_536;
/** How long lines wait for others. */
const GATHER_MS = 100;

interface LineWriterOptions {
  readonly fd: number;
  /** A line that says how many lines are missing. */
  readonly describeDropped: (count: number) => string;
  /** Counts each missing line once. */
  readonly onDropped: (count: number) => void;
}

export interface LineWriter {
  /** Takes one line of ASCII, with its line break. Never waits. */
  write(line: string): void;
  /** Resolves when everything is written, when it cannot be written, or when the time is up. */
  close(timeMaxMs: number): Promise<void>;
}

/**
 * Writes lines in the background. If a reader is slow, or has stopped reading, it drops lines
 * instead of waiting. One write at a time is under way, on a thread of its own.
 */
export function createLineWriter(options: LineWriterOptions): LineWriter {
  const { fd, describeDropped, onDropped } = options;
  const isFile = fstatSync(fd).isFile();
  const chunkBytesMax = isFile ? FILE_WRITE_BYTES_MAX : PIPE_WRITE_BYTES_MAX;
  const queue = createLineQueue({ chunkBytesMax, describeDropped, onDropped });
  let isWriting = false;
  let gatherTimer: NodeJS.Timeout | undefined;
  let noteIdle: (() => void) | undefined;

  const writeNext = () => {
    const chunk = queue.take();
    isWriting = chunk !== undefined;
    if (chunk === undefined) noteIdle?.();
    else writeFrom(chunk, Buffer.from(chunk.text, 'latin1'));
  };
  const writeFrom = (chunk: Chunk, bytes: Buffer) => {
    write(fd, bytes, (error, written) => {
      if (error === null && written < bytes.length) writeFrom(chunk, bytes.subarray(written));
      else if (error === null) writeNext();
      else if (error.code === 'EAGAIN') setTimeout(() => writeFrom(chunk, bytes), GATHER_MS);
      else {
        // The next line tries again: a disk may have room by then.
        queue.noteLost(chunk);
        isWriting = false;
        noteIdle?.();
      }
    });
  };
  const flush = () => {
    gatherTimer = undefined;
    if (!isWriting) writeNext();
  };

  return {
    write(line) {
      const isFull = queue.add(line);
      if (isFull && !isWriting) writeNext();
      gatherTimer ??= setTimeout(flush, GATHER_MS);
    },
    close(timeMaxMs) {
      clearTimeout(gatherTimer);
      return new Promise((resolve) => {
        noteIdle = resolve;
        setTimeout(resolve, timeMaxMs).unref();
        flush();
      });
    },
  };
}
