import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { QUEUE_BYTES_MAX } from '../../src/log/line-queue.ts';
import { createLineWriter } from '../../src/log/line-writer.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const PIPE_BYTES_MAX = 65_536;
const WRITE_BYTES_MAX = 4_096;
const describeDropped = (count: number) => `dropped ${count}\n`;

function startWriter(fd: number) {
  let dropped = 0;
  const onDropped = (count: number) => {
    dropped += count;
  };
  const writer = createLineWriter({ fd, describeDropped, onDropped });
  return { ...writer, dropped: () => dropped };
}

/** A pipe of the system with both ends in this process. It is read only when a test says so. */
function openPipe() {
  const path = join(createTempDir(), 'pipe');
  execFileSync('mkfifo', [path]);
  const { O_RDONLY, O_NONBLOCK, O_WRONLY } = constants;
  const openReader = () => openSync(path, O_RDONLY | O_NONBLOCK);
  let readFd: number | undefined = openReader();
  const writeFd = openSync(path, O_WRONLY);
  let text = '';
  const buffer = Buffer.alloc(PIPE_BYTES_MAX);
  const read = (): string => {
    try {
      for (let bytes = 1; bytes > 0 && readFd !== undefined; ) {
        bytes = readSync(readFd, buffer);
        text += buffer.toString('latin1', 0, bytes);
      }
    } catch (error) {
      // The pipe is empty at the moment.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
    return text;
  };
  const closeReader = () => {
    if (readFd !== undefined) closeSync(readFd);
    readFd = undefined;
  };
  const reopenReader = () => {
    readFd = openReader();
  };
  onTestFinished(() => {
    closeReader();
    closeSync(writeFd);
  });
  return { writeFd, read, closeReader, reopenReader };
}

const lineOf = (index: number) => `${String(index).padStart(200, '0')}\n`;
const LINE_BYTES = lineOf(0).length;

describe('a writer of lines', () => {
  it('writes all of them, in order', async () => {
    const { writeFd, read } = openPipe();
    const writer = startWriter(writeFd);
    const lines = Array.from({ length: 250 }, (_, index) => lineOf(index));
    for (const line of lines) writer.write(line);
    await waitUntil(() => read() === lines.join(''), 'they are there without being asked for');
    writer.write(lineOf(1));
    await writer.close(30_000);
    expect(read()).toBe(lines.join('') + lineOf(1));
    expect(writer.dropped()).toBe(0);
  });

  it('neither waits for a reader that has stopped nor keeps more than its bound, and tells what is lost', async () => {
    const { writeFd, read } = openPipe();
    const writer = startWriter(writeFd);
    const total = Math.ceil((3 * QUEUE_BYTES_MAX) / LINE_BYTES);
    for (let index = 0; index < total; index++) writer.write(lineOf(index));
    const told = () => [...read().matchAll(/^dropped (\d+)$/gm)].map(([, count]) => Number(count));
    const keptLines = () => read().match(/^0\d+$/gm) ?? [];
    await waitUntil(
      () => keptLines().length + told().reduce((sum, count) => sum + count, 0) === total,
      'each line is there or told to be missing',
    );
    expect(writer.dropped()).toBe(total - keptLines().length);
    expect(keptLines().length * LINE_BYTES).toBeGreaterThan(QUEUE_BYTES_MAX - LINE_BYTES);
    // One more write is in progress. It is not in the queue.
    const keptBytesMax = QUEUE_BYTES_MAX + WRITE_BYTES_MAX;
    expect(keptLines().length * LINE_BYTES).toBeLessThanOrEqual(keptBytesMax);
    expect(keptLines().map(Number)).toEqual(
      keptLines()
        .map(Number)
        .toSorted((a, b) => a - b),
    );

    writer.write(lineOf(total));
    await writer.close(30_000);
    expect(read().endsWith(lineOf(total))).toBe(true);
  });

  it('ends in time though nobody reads', async () => {
    const { writeFd, read } = openPipe();
    const writer = startWriter(writeFd);
    const lines = Math.ceil((2 * PIPE_BYTES_MAX) / LINE_BYTES);
    for (let index = 0; index < lines; index++) writer.write(lineOf(index));
    await writer.close(50);
    const written = () => read().length;
    expect(written()).toBeLessThan(lines * LINE_BYTES);
    // The write in progress must end before the pipe can be closed.
    await waitUntil(() => written() === lines * LINE_BYTES, 'the rest is written');
  });

  it('outlives a reader that is gone, and tells the next one what it has missed', async () => {
    const { writeFd, read, reopenReader, closeReader } = openPipe();
    closeReader();
    const writer = startWriter(writeFd);
    writer.write(lineOf(1));
    await writer.close(30_000);
    // The line that reports the first loss is lost too, and is not counted.
    await writer.close(30_000);
    expect(writer.dropped()).toBe(1);
    reopenReader();
    writer.write(lineOf(2));
    await writer.close(30_000);
    expect(read()).toBe(`${lineOf(2)}dropped 1\n`);
    expect(writer.dropped()).toBe(1);
  });
});
